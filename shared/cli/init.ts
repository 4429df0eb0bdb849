import { basename, resolve } from "node:path";
import { invalidInput } from "../admin/read-result";
import { applyPlan } from "../init/apply-plan";
import { readExistingApp } from "../init/existing-app";
import { planInit } from "../init/plan";
import type { InitChange, InitPlan } from "../init/plan";
import { planTemplate, templates } from "../init/template";
import { readVersion, testedVersion } from "../core/own-manifest";
import { problemsOfDatabase } from "./database-option";
import { report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { readWord, wantsYes } from "./read-values";

/** `taskgate init` */
export const initCommand: Command = {
  name: "init",
  group: "develop",
  worksOn: "this computer",
  outlivesReader: true,
  parameters: [],
  options: {
    template: {
      valueName: "NAME",
      values: templates,
      sentence: "Makes a new app in an empty folder: blank, or flights, the sample pipeline.",
    },
    app: { valueName: "DIR", sentence: "The folder of the app; default: the current folder." },
    package: {
      valueName: "SPEC",
      sentence:
        "Where npm gets Taskgate: a version or file:.., seen from the app; default: this version.",
    },
    folder: {
      valueName: "DIR",
      sentence: "Where the sources of the functions are, if `main` in package.json doesn't tell.",
    },
    yes: yesOption,
  },
  sentence: "Adds Taskgate to a Functions app, or makes a new app.",
  details:
    "Shows what it adds, and asks: absent dependencies in package.json, one file (gate.ts or gate.js) beside the functions, absent values of local.settings.json. It changes no other file, no value that is there, and never host.json. Without a terminal it wants --yes. With --json it prints the plan, and changes something with --yes alone. With --db the app uses that database.",
  examples: [
    { line: "taskgate init", sentence: "In the folder of an app." },
    { line: "taskgate init --json", sentence: "The plan alone." },
    {
      line: "taskgate init --template blank --app billing --yes",
      sentence: "A new app in the folder billing.",
    },
    {
      line: "taskgate init --template blank --app billing --package file:../taskgate.tgz --yes",
      sentence: "The same on a packed build.",
    },
  ],
  run: async (context) => {
    const plan = await makePlan(context);
    const isAsked = !context.isJson && plan.changes.length > 0;
    if (isAsked) context.output.line(describePlan(plan));
    if (isAsked && !context.flags.has("yes")) {
      if (!context.isAttended) throw wantsYes();
      if (!(await context.confirm(() => "Adds the above and changes nothing else.")))
        return exitCodes.failed;
    }
    const isApplied = plan.changes.length > 0 && (!context.isJson || context.flags.has("yes"));
    if (isApplied) applyPlan(plan);
    report(context, forPrograms(plan, isApplied), () => describeEnd(plan, context));
    return exitCodes.ok;
  },
};

function makePlan(context: CommandContext): Promise<InitPlan> {
  const { options, folder } = context;
  const root = resolve(folder, options["app"] ?? ".");
  const packageSpec = options["package"] ?? readVersion();
  const versionOf = (name: string) => (name === "taskgate" ? packageSpec : testedVersion(name));
  if (options["template"] !== undefined) {
    const template = readWord("--template", options["template"], { words: templates });
    for (const name of ["db", "folder"])
      if (options[name] !== undefined) {
        const expected = "no --template beside it: it is about an app that exists";
        throw invalidInput([{ field: `--${name}`, value: "set", expected }]);
      }
    const name = basename(root)
      .toLowerCase()
      .replaceAll(/[^a-z\d-]+/g, "-");
    return Promise.resolve(planTemplate(root, { template, name: name || "app", versionOf }));
  }
  const databaseUrl = options["db"] ?? null;
  const problems = problemsOfDatabase(databaseUrl);
  if (problems.length > 0) throw invalidInput(problems);
  return readExistingApp(root, options["folder"]).then((app) => {
    const plan = planInit(app, { databaseUrl, versionOf });
    const isKept = options["package"] !== undefined && app.packages.has("taskgate");
    return isKept ? { ...plan, notes: [...plan.notes, keptPackage] } : plan;
  });
}

const keptPackage =
  "package.json names taskgate already, so --package changes nothing: `npm install SPEC` replaces it.";

/** The plan as text. No password is shown. */
function describePlan({ root, changes, notes }: InitPlan): string {
  const lines = changes.map((change) => `  ${describeChange(change)}`);
  return [`In ${root}:`, ...lines, ...notes.map((note) => `  note: ${note}`)].join("\n");
}

function describeChange(change: InitChange): string {
  if (change.kind === "dependency")
    return `add to package.json, ${change.section}: ${change.name} ${change.version}`;
  if (change.kind === "setting")
    return `add to local.settings.json: ${change.name} = ${withoutPassword(change.value)}`;
  const count = change.text.split("\n").length - 1;
  return `write ${change.path} (${String(count)} lines)`;
}

function describeEnd(
  { root, changes, notes, steps }: InitPlan,
  { options }: CommandContext,
): string {
  if (changes.length === 0) return [`Nothing to add: ${root} has all of it.`, ...notes].join("\n");
  const first = changes.some(isForNpm) ? [describeInstall(options["package"])] : [];
  return ["Done. Next:", ...[...first, ...steps].map((step) => `  ${step}`)].join("\n");
}

function describeInstall(packageSpec: string | undefined): string {
  const line = "npm install --ignore-scripts";
  return packageSpec === undefined ? line : `${line}  # Taskgate from ${packageSpec}`;
}

function isForNpm(change: InitChange): boolean {
  return change.kind === "dependency" || (change.kind === "file" && change.path === "package.json");
}

function forPrograms({ root, changes, notes }: InitPlan, isApplied: boolean): object {
  const shown = changes.map((change) =>
    change.kind === "setting" ? { ...change, value: withoutPassword(change.value) } : change,
  );
  return { app: root, changes: shown, notes, applied: isApplied };
}

function withoutPassword(text: string): string {
  return text.replace(/^(\w+:\/\/[^:@/]*):[^@]*@/, "$1:***@");
}
