/** The one file that connects an app to Taskgate. Pure. */

/** How the file is written. */
export interface GateStyle {
  readonly isModule: boolean;
  /** Functions of Taskgate whose names the app has given to its own: they get others. */
  readonly taken: readonly string[];
}

/** Names of the functions that Taskgate registers. */
export const ownFunctionNames = ["run", "sweep", "ingest"] as const;

/** The text of gate.ts, or of gate.js. */
export function writeGateFile({ isModule, taken }: GateStyle): string {
  const renamed = ownFunctionNames.filter((name) => taken.includes(name));
  const names = renamed.map((name) => `${name}: "taskgate-${name}"`).join(", ");
  const options = [
    ...(renamed.length === 0 ? [] : [`names: { ${names} }`]),
    'api: { prefix: "taskgate" }',
  ].join(", ");
  const uses = [
    "/**",
    " * Taskgate for this app. A function draws from a limit by its handler:",
    ' * `gate.limited({ name: "partner-api", limit: 4 }, handler)`. Tasks go into the list.',
    " */",
  ];
  const registration = [
    "",
    "// The functions that run tasks, the HTTP API and the dashboard below taskgate/dashboard.",
    `gate.register(app, { ${options} });`,
  ];
  const lines = isModule
    ? [
        'import { app } from "@azure/functions";',
        'import { taskgate } from "taskgate/functions";',
        "",
        ...uses,
        "export const gate = taskgate({ tasks: [] });",
        ...registration,
      ]
    : [
        'const { app } = require("@azure/functions");',
        'const { taskgate } = require("taskgate/functions");',
        "",
        ...uses,
        "const gate = taskgate({ tasks: [] });",
        ...registration,
        "",
        "module.exports = { gate };",
      ];
  return `${lines.join("\n")}\n`;
}
