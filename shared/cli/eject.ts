import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { promisify } from "node:util";
import { applyEject, planEject } from "../init/eject";
import type { EjectPlan } from "../init/eject";
import { readVersion } from "../core/own-manifest";
import { report, yesOption } from "./command";
import type { Command, CommandContext } from "./command";
import { exitCodes } from "./exit-codes";
import { refusal, wantsYes } from "./read-values";

/** `taskgate eject` */
export const ejectCommand: Command = {
  name: "eject",
  group: "develop",
  worksOn: "this computer",
  outlivesReader: true,
  parameters: [],
  options: {
    name: {
      valueName: "NAME",
      sentence: "The app's name, for package.json and azure.yaml; default: that of its folder.",
    },
    package: {
      valueName: "SPEC",
      sentence: "Where npm gets the package: a version or file:..; default: this version.",
    },
    app: { valueName: "DIR", sentence: "The folder of the copy; default: the current folder." },
    yes: yesOption,
  },
  sentence: "Turns a copy of Taskgate's repository into an app on the package.",
  details:
    "Removes shared/, test/, docs/ and the tools of the repository, and makes the package a dependency. functions/, infra/, host.json, dependencies and scripts of yours stay. It shows what it does, and asks. Without a terminal it wants --yes. With --json it prints the plan, and changes something with --yes alone. Changes that git doesn't have are refused: removed files can be brought back.",
  examples: [
    { line: "taskgate eject --name billing", sentence: "In the folder of the copy." },
    { line: "taskgate eject --json", sentence: "The plan alone." },
  ],
  run: async (context) => {
    const plan = makePlan(context);
    const { isJson, flags, output } = context;
    if (!isJson) output.line(describePlan(plan));
    const isWanted = flags.has("yes") || (!isJson && context.isAttended);
    if (!isJson && !isWanted) throw wantsYes();
    if (isWanted) await refuseUnsaved(plan.root);
    if (isWanted && !(await context.confirm(() => "Removes and writes the above.")))
      return exitCodes.failed;
    if (isWanted) applyEject(plan);
    const { root, removed, written } = plan;
    const shown = { app: root, removed, written: written.map(({ path }) => path) };
    report(context, { ...shown, applied: isWanted }, () =>
      ["Done. Next:", "  npm install --ignore-scripts", "  npm start"].join("\n"),
    );
    return exitCodes.ok;
  },
};

function makePlan({ options, folder }: CommandContext): EjectPlan {
  const root = resolve(folder, options["app"] ?? ".");
  const name = options["name"] ?? basename(root).toLowerCase();
  const isName = /^[a-z][a-z\d-]{1,63}$/.test(name) && name !== "taskgate";
  if (!isName) {
    const expected = "2..64 lower case letters, digits and hyphens, a letter first, not taskgate";
    throw refusal("--name", name, expected);
  }
  return planEject(root, { name, packageSpec: options["package"] ?? readVersion() });
}

function describePlan({ root, removed, written }: EjectPlan): string {
  return [
    `In ${root}:`,
    ...removed.map(({ path, files }) =>
      files === 1 ? `  remove ${path}` : `  remove ${path}/ (${String(files)} files)`,
    ),
    ...written.map(({ path }) => `  write ${path}`),
  ].join("\n");
}

/** Throws where git has not got everything. A copy without git is its user's matter. */
async function refuseUnsaved(root: string): Promise<void> {
  if (!existsSync(join(root, ".git"))) return;
  const args = ["status", "--porcelain", "--untracked-files=normal"];
  const { stdout } = await promisify(execFile)("git", args, { cwd: root });
  if (stdout.trim() === "") return;
  throw new Error(
    `${root} has changes that git doesn't have: commit or stash them first, so that nothing is lost. The first: ${stdout.split("\n")[0] ?? ""}`,
  );
}
