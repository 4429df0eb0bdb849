import { setTimeout as wait } from "node:timers/promises";
import { assumptionsStep } from "./assumptions-step";
import { BatchConnection } from "./batch-connection";
import { benchStep } from "./bench-step";
import { contractStep } from "./contract-step";
import { deadlockSteps } from "./deadlock-steps";
import { litmusStep } from "./litmus-step";
import type { VerifyOptions } from "./options";
import { findLeftovers, makeOwnDatabase } from "./own-database";
import { takeOwnSchemas } from "./own-schemas";
import { plansStep } from "./plans-step";
import type { ResultRow, StepRow, VerifyResult } from "./result";
import { schemaStep } from "./schema-step";
import { readServerFacts } from "./server-facts";
import { startSimulatedPlace } from "./simulated-place";
import { describeError } from "./step";
import type { VerifyStep } from "./step";
import type { Workplace } from "./workplace";

/** How the outside is told, and how it stops us. */
export interface VerifyHooks {
  readonly signal: AbortSignal;
  /** `share` of the whole, 0 to 1. */
  show(share: number, step: string, what: string): void;
}

/** A server in a container takes its time to start. */
const serverStartMs = 90_000;
const retryMs = 2_000;
/** How long a step may take to stop. */
const stopMs = 10_000;

/** Runs the acceptance pack. Its objects are removed in any case. */
export async function verify(options: VerifyOptions, hooks: VerifyHooks): Promise<VerifyResult> {
  const startedMs = performance.now();
  const { place, notes } = await findPlace(options, hooks);
  const rows: ResultRow[] = [
    row("place", false, { what: "works in", status: "told", summary: place.what, details: notes }),
  ];
  try {
    await runSteps(place, { options, hooks, rows, startedMs });
  } finally {
    hooks.show(1, "clean-up", place.what);
    rows.push(row("clean-up", false, await cleanUp(place)));
  }
  return {
    server: place.server,
    isSimulated: place.isSimulated,
    rows,
    isStopped: hooks.signal.aborted,
    seconds: (performance.now() - startedMs) / 1_000,
  };
}

interface Found {
  readonly place: Workplace;
  readonly notes: readonly string[];
}

async function findPlace({ server }: VerifyOptions, hooks: VerifyHooks): Promise<Found> {
  if (server.kind === "simulated") return { place: await startSimulatedPlace(), notes: [] };
  const connection = await connectPatiently(server.url, hooks);
  try {
    const facts = await readServerFacts(connection);
    const leftovers = await findLeftovers(connection);
    const notes = leftovers.map(
      (name) => `An earlier run left the database ${name}: drop it when nobody needs it any more`,
    );
    const isOwn = facts.mayCreateDatabase && !facts.isAzureDatabase;
    const place = await (isOwn ? makeOwnDatabase : takeOwnSchemas)(server.url, facts);
    return { place, notes };
  } finally {
    await connection.close();
  }
}

async function connectPatiently(url: string, hooks: VerifyHooks): Promise<BatchConnection> {
  const untilMs = performance.now() + serverStartMs;
  for (;;) {
    try {
      return await BatchConnection.open(url, "taskgate verify");
    } catch (error) {
      if (performance.now() > untilMs || hooks.signal.aborted) throw error;
      hooks.show(0, "connecting", describeError(error));
      await wait(retryMs);
    }
  }
}

interface Run {
  readonly options: VerifyOptions;
  readonly hooks: VerifyHooks;
  readonly rows: ResultRow[];
  readonly startedMs: number;
}

async function runSteps(place: Workplace, run: Run): Promise<void> {
  const { hooks, rows, startedMs } = run;
  const totalMs = run.options.minutes * 60_000;
  const deadlocks = deadlockSteps();
  // Litmus tests switch the database to and fro, so they come before the product.
  const steps: readonly VerifyStep[] = [
    litmusStep,
    schemaStep,
    deadlocks.before,
    assumptionsStep,
    contractStep,
    benchStep,
    plansStep,
    deadlocks.after,
  ];
  let share = 0;
  for (const step of steps) {
    if (hooks.signal.aborted) return;
    share += step.share;
    // What earlier steps left over is this one's, too.
    const endsAtMs = startedMs + share * totalMs;
    const say = (what: string): void => {
      hooks.show((performance.now() - startedMs) / totalMs, step.name, what);
    };
    say("");
    const found = await runOne(step, { place, signal: hooks.signal, endsAtMs, say });
    rows.push(
      ...found.map((one) => row(step.name, place.isSimulated && step.meansNothingSimulated, one)),
    );
  }
}

/** A step that fails as a whole is a row, too; one that is stopped leaves none. */
async function runOne(
  step: VerifyStep,
  context: Parameters<VerifyStep["run"]>[0],
): Promise<StepRow[]> {
  const stopped = new Promise<StepRow[]>((resolve) => {
    const row: StepRow = {
      what: "all of it",
      status: "incomplete",
      summary: "stopped",
      details: [],
    };
    context.signal.addEventListener("abort", () => {
      // A running call may still write: the removal comes after it, if it ends soon.
      setTimeout(() => {
        resolve([row]);
      }, stopMs).unref();
    });
  });
  const running = step.run(context).catch((error: unknown): StepRow[] => [
    {
      what: "all of it",
      status: "failed",
      summary: "the step itself failed",
      details: [describeError(error)],
    },
  ]);
  return Promise.race([running, stopped]);
}

async function cleanUp(place: Workplace): Promise<StepRow> {
  try {
    await place.remove();
    return { what: place.what, status: "passed", summary: "removed", details: [] };
  } catch (error) {
    return {
      what: place.what,
      status: "failed",
      summary: "could not be removed: please do it by hand",
      details: [describeError(error)],
    };
  }
}

function row(step: string, meansNothingHere: boolean, found: StepRow): ResultRow {
  return { step, meansNothingHere, ...found };
}
