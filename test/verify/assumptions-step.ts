import type { Assumption, Fault, Finding } from "./assumption";
import { expecting, judged } from "./assumption";
import { compileAssumptions } from "./assumptions-compile";
import { figureAssumptions } from "./assumptions-figures";
import { lockAssumptions } from "./assumptions-locks";
import { BatchConnection } from "./batch-connection";
import { callEveryOperation, makeLogins } from "./every-operation";
import { urlAs } from "../support/roles";
import type { StepRow } from "./result";
import { describeError, isOver, noLogins } from "./step";
import type { StepContext, VerifyStep } from "./step";

/** Every procedure is compiled, and each call made by a user with a shipped role only. */
const everyOperation: Assumption = {
  what: "8 every operation by members of the shipped roles, over an empty and a filled database",
  run: async ({ place, say }): Promise<Finding> => {
    if (!place.mayMakeLogins) return { status: "skipped", summary: noLogins };
    await makeLogins(place.url);
    const tooMany = await rightsTooMany(place.url);
    if (tooMany.length > 0) return judged("", tooMany);
    const sizes = place.isSimulated ? [20, 100] : [20, 10_000];
    for (const backlog of sizes) {
      say(`every operation over ${String(backlog)} tasks`);
      await callEveryOperation(place, { backlog, label: `verify ${String(backlog)}` });
    }
    return judged("no hint that can't be honoured, no right that is missing, none too many", []);
  },
};

async function rightsTooMany(url: string): Promise<Fault[]> {
  const worker = await BatchConnection.open(urlAs(url, "worker"), "taskgate verify");
  const refused = { errors: [229] };
  try {
    const table = await worker.run("SELECT COUNT(*) AS n FROM Taskgate.Task;");
    const inner = await worker.run("EXEC Taskgate._LockShared @Shared = N'1';");
    const other = await worker.run("EXEC Taskgate.CheckInvariants;");
    return [
      expecting(table, "a worker reads a table", refused),
      expecting(inner, "a worker calls an inner procedure", refused),
      expecting(other, "a worker calls an operators' procedure", refused),
    ].filter((fault) => fault !== undefined);
  } finally {
    await worker.close();
  }
}

/** Those that pass or fail, in order. */
export const assumptions: readonly Assumption[] = [
  compileAssumptions[1],
  compileAssumptions[2],
  compileAssumptions[3],
  compileAssumptions[4],
  lockAssumptions[5],
  compileAssumptions[6],
  lockAssumptions[7],
  everyOperation,
];

const figures: readonly Assumption[] = [figureAssumptions[9], figureAssumptions[10]];

/** The riskiest assumptions about a server, each with its own script: eight pass or fail, two are figures. */
export const assumptionsStep: VerifyStep = {
  name: "assumptions",
  share: 0.1,
  meansNothingSimulated: false,
  run: async (context) => {
    const rows: StepRow[] = [];
    for (const one of assumptions) rows.push(await runOne(one, context, context.signal.aborted));
    for (const one of figures) rows.push(await runOne(one, context, isOver(context)));
    return rows;
  },
};

/** One script's row; `isLate`: there is no time for it. */
export async function runOne(
  one: Assumption,
  context: StepContext,
  isLate: boolean,
): Promise<StepRow> {
  const { what, serverOnly } = one;
  if (context.place.isSimulated && serverOnly !== undefined)
    return { what, status: "skipped", summary: `server only: ${serverOnly}`, details: [] };
  if (isLate) return { what, status: "incomplete", summary: "no time left", details: [] };
  context.say(what);
  try {
    const { status, summary, details = [] } = await one.run(context);
    return { what, status, summary, details };
  } catch (error) {
    const summary = "the script itself failed";
    return { what, status: "failed", summary, details: [describeError(error)] };
  }
}
