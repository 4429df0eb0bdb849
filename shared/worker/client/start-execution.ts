import { asOperationId } from "../../core/ids";
import type { Instants } from "../../core/lease";
import type { StartExecutionAnswer } from "../../ports/task-store";
import type { Definition } from "../define/task-kind";
import type { WorkerEnvironment } from "../environment";
import { instants } from "../environment";

/** The answer, and the instant from which its lease is counted. */
export interface Asked {
  readonly sentAt: Instants;
  readonly started: StartExecutionAnswer;
}

/**
 * Asks for tokens of a definition; when the database doesn't know these settings yet, `makeKnown` registers them and it
 * asks again. Each ask has an operation id of its own: the first one opened nothing.
 */
export async function startExecution(
  environment: WorkerEnvironment,
  ask: { definition: Definition; want: number; needsReady: boolean },
  makeKnown: () => Promise<void>,
): Promise<Asked> {
  const asked = await askOnce(environment, ask);
  if (asked.started.status !== "unknown" && asked.started.status !== "outdated") return asked;
  await makeKnown();
  return askOnce(environment, ask);
}

async function askOnce(
  environment: WorkerEnvironment,
  ask: { definition: Definition; want: number; needsReady: boolean },
): Promise<Asked> {
  const { definition, want, needsReady } = ask;
  const sentAt = instants(environment.clock);
  const started = await environment.store.startExecution({
    name: definition.name,
    operationId: asOperationId(environment.random.uuid()),
    worker: environment.workerName,
    build: environment.build,
    settingsHash: definition.settingsHash,
    want,
    needsReady,
  });
  return renewLate(environment, { sentAt, started });
}

/**
 * The store repeats the call for as long as the database is away, and only the last attempt granted the lease. Counted from the
 * first one it may be over at its birth, and its tokens would stay unused until the database says so, too.
 */
async function renewLate(environment: WorkerEnvironment, asked: Asked): Promise<Asked> {
  const { executionId, leaseMs } = asked.started;
  if (executionId === null || leaseMs === null) return asked;
  const sentAt = instants(environment.clock);
  if (sentAt.monotonicMs - asked.sentAt.monotonicMs < leaseMs / 3) return asked;
  try {
    const beat = { executions: [{ executionId, started: [] }] };
    const { executions } = await environment.store.heartbeat(beat);
    return executions[0]?.status === "renewed" ? { ...asked, sentAt } : asked;
  } catch {
    // As lost as it would be without the attempt.
    return asked;
  }
}
