import type { TaskgateError } from "../core/errors";
import type { TaskId } from "../core/ids";
import type { TaskFacts, TaskStore } from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import { explainTask } from "./explain";
import type { ExplainableTask, Reason } from "./explain";
import { invalidInput, showValue } from "./read-result";
import { readStop } from "./stop-actions";
import { findUnserved } from "./unserved";

/** Why a task runs or not. */
export interface ExplainReport {
  /** moving: between two states at this instant; ask again. */
  readonly status: "found" | "moving";
  readonly reasons: readonly Reason[];
  readonly facts: ShownFacts | null;
  /** Address of the page that shows the task's trace; left out: the task has no trace, or no such page is known. */
  readonly traceUrl?: string;
}

/** A task's facts. The sizes are there where an app tells them: a null beside a size stands for what the caller may not see. */
export interface ShownFacts extends TaskFacts {
  /** Bytes of UTF-8; null: there is no payload. */
  readonly payloadBytes?: number | null;
  readonly resultBytes?: number | null;
}

/** A task that moves all the time is answered as moving after so many reads. */
const explainReadsMax = 5;

/** Where a task stands and why. Throws InvalidArgumentError (unknown). */
export async function explain(
  { store, traceUrl = null }: Pick<AdminOptions, "store" | "traceUrl">,
  taskId: TaskId,
): Promise<ExplainReport> {
  const facts = await readFacts(store, taskId);
  if (facts !== null) {
    const reasons = explainTask(await completeFacts(store, facts));
    return { status: "found", reasons, facts, ...linkOf(traceUrl, facts) };
  }
  const sentence = `Task ${taskId} is moving from one state to another at this instant: ask again.`;
  return { status: "moving", reasons: [{ code: "state", decides: true, sentence }], facts: null };
}

/** The known facts of a task, by one read; the reasons would take more. null: it moves all the time. Throws InvalidArgumentError (unknown). */
export async function readFacts(store: TaskStore, taskId: TaskId): Promise<ShownFacts | null> {
  for (let read = 1; read <= explainReadsMax; read += 1) {
    const { status, facts } = await store.explainTask({ taskId });
    if (status === "unknown") throw unknownTask(taskId);
    if (status !== "moving" && facts !== null) return facts;
  }
  return null;
}

/** The page of the trace, by its id: the second part of a W3C traceparent. */
function linkOf(traceUrl: string | null, { traceParent }: TaskFacts): { traceUrl?: string } {
  const trace = traceParent?.split("-")[1];
  return traceUrl === null || trace === undefined
    ? {}
    : { traceUrl: traceUrl.replaceAll("{trace}", trace) };
}

/** A request to end, and its end, are that close. */
const cancelledWithinMs = 3_600_000;

/** The actor of its cancellation, and the reason: a running task's own text can't tell. The audit is looked at for an hour back. */
async function noteCancel(
  store: TaskStore,
  { task, endedAt }: TaskFacts,
): Promise<{ cancelledBy?: { actor: string; reason: string | null } }> {
  if (endedAt === undefined) return {};
  const endMs = Date.parse(endedAt);
  const { entries } = await store.listAudit({
    ...{ object: task, action: "cancel_tasks", max: 1 },
    since: new Date(endMs - cancelledWithinMs),
    before: new Date(endMs + 1),
  });
  const [found] = entries;
  return found === undefined ? {} : { cancelledBy: { actor: found.actor, reason: found.reason } };
}

/** Ready for long, with nothing in its way: does no app have it? */
async function noteUnserved(
  store: TaskStore,
  { definition }: TaskFacts,
): Promise<{ unserved?: string }> {
  const { definitions } = await store.listDefinitions({ name: definition });
  const { unserved } = await findUnserved(store, definitions);
  const [found] = unserved;
  return found === undefined ? {} : { unserved: `Of \`${definition}\` ${found.text}` };
}

/** Adds what only other read models know: since when tokens are held, and how many attempts a dead task was allowed. */
async function completeFacts(store: TaskStore, facts: TaskFacts): Promise<ExplainableTask> {
  if (facts.paused === true) {
    const stop = await readStop({ store });
    if (stop?.definitions.includes(facts.definition) === true) return { ...facts, stop };
  }
  if (facts.state === "cancelled") return { ...facts, ...(await noteCancel(store, facts)) };
  if (facts.state === "dead") {
    const { definitions } = await store.listDefinitions({ name: facts.definition });
    const definition = definitions[0];
    if (definition === undefined) return facts;
    return { ...facts, retryAttempts: definition.retryAttempts, lostMax: definition.lostMax };
  }
  const holders = facts.holders ?? [];
  if (facts.state !== "ready") return facts;
  if (holders.length === 0) return { ...facts, ...(await noteUnserved(store, facts)) };
  const { executions } = await store.listExecutions({
    name: facts.definition,
    isOpen: true,
    max: 100,
  });
  const startedAt = new Map<string, string>(
    executions.map((execution) => [execution.execution, execution.startedAt]),
  );
  return {
    ...facts,
    holders: holders.map((holder) => {
      const since = startedAt.get(holder.execution);
      return since === undefined ? holder : { ...holder, startedAt: since };
    }),
  };
}

function unknownTask(taskId: TaskId): TaskgateError {
  const expected =
    "the id of a task that exists; tasks that have ended are removed when their definition's retention ends";
  return invalidInput(
    [{ field: "task", value: showValue(taskId), expected }],
    "TASKGATE_ARG_UNKNOWN",
  );
}
