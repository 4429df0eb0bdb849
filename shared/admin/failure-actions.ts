import type { TaskId } from "../core/ids";
import { limits } from "../core/limits";
import type { ActorInput, TaskStore } from "../ports/task-store";
import type { Actor, AdminTools } from "./admin-tools";
import { listBatchFailures } from "./batch-failures";
import { groupFailures, isLike } from "./failure-groups";
import type { FailureGroup } from "./failure-groups";
import type { FailuresRequest, RedriveFailuresRequest } from "./failure-requests";
import { withKnownNames } from "./known-definitions";
import type { Known } from "./known-definitions";
import { listMax } from "./listing";
import { redriveTasks } from "./task-actions";

/** Dead tasks by error, for operators: the list, and a redrive of one error's tasks. */

/** Dead tasks by error. */
export interface FailuresReport {
  /** Most first, at most so many as were asked for. */
  readonly groups: readonly FailureGroup[];
  /** There are other groups. */
  readonly more: boolean;
  /** Dead tasks that were looked at, the newest of each definition. */
  readonly lookedAt: number;
  /** There are no other dead tasks. */
  readonly isWhole: boolean;
}

/** The counts of a group's redrive. */
export interface RedriveFailuresReport {
  /** Dead tasks of the group. */
  readonly found: number;
  readonly redriven: number;
  /** They stay dead: another task holds their key, or they were locked at this moment. */
  readonly left: number;
  /** Others may be dead of the same error: a call takes 10,000 tasks, and looks at 100,000 dead ones, the newest. */
  readonly more: boolean;
}

/** Calls about failures. */
export function failureCalls(options: AdminTools & Known) {
  return {
    /** Dead tasks by error, most first, over all definitions or of one; of all tasks or of a batch. */
    failures: (request: FailuresRequest) =>
      withKnownNames(options, request.definition, () => listFailures(options, request)),
    /** Retries the dead tasks of one error. */
    redriveFailures: (request: RedriveFailuresRequest & Actor) =>
      withKnownNames(options, request.definition, () => redriveFailures(options, request)),
  };
}

/** Dead tasks that one look reads: of one definition, and of all of them together. Errors that all differ make an answer as long. */
const failuresReadMax = { ofOne: 5_000, ofAll: 2_500 } as const;

async function listFailures(
  { store }: AdminTools,
  request: FailuresRequest,
): Promise<FailuresReport> {
  const { definition, batchId, max } = request;
  const ofDefinition = () =>
    store.listFailures(
      definition === undefined
        ? { max: failuresReadMax.ofAll }
        : { name: definition, max: failuresReadMax.ofOne },
    );
  const answer = await (batchId === undefined
    ? ofDefinition()
    : listBatchFailures(store, { batchId, name: definition }));
  const groups = groupFailures(answer.failures);
  return {
    groups: groups.slice(0, max).map(({ group }) => group),
    more: groups.length > max,
    lookedAt: answer.lookedAt,
    isWhole: answer.isWhole,
  };
}

/** Tasks of one error that a call redrives, and dead tasks that it looks at. */
const redriveMax = { found: 10_000, lookedAt: 100_000 } as const;

/** Retries the dead tasks of one group, the oldest first, a thousand a call; with `dryRun` only counts them. */
async function redriveFailures(
  tools: AdminTools,
  { definition, kind, like, dryRun, ...actor }: RedriveFailuresRequest & ActorInput,
): Promise<RedriveFailuresReport> {
  const { taskIds, more } = await findFailures(tools.store, { definition, kind, like });
  const found = taskIds.length;
  if (dryRun) return { found, redriven: 0, left: 0, more };
  let redriven = 0;
  for (let from = 0; from < found; from += limits.idsMax) {
    const slice = taskIds.slice(from, from + limits.idsMax);
    const { tasks } = await redriveTasks(tools, { taskIds: slice, ...actor });
    redriven += tasks.filter(({ outcome }) => outcome === "redriven").length;
  }
  return { found, redriven, left: found - redriven, more };
}

/** The dead tasks of one group among all dead ones, the oldest first. */
async function findFailures(
  store: TaskStore,
  { definition: name, kind, like }: Omit<RedriveFailuresRequest, "dryRun">,
): Promise<{ taskIds: TaskId[]; more: boolean }> {
  const taskIds: TaskId[] = [];
  let [lookedAt, after]: [number, string | null] = [0, null];
  do {
    const from: { after?: string } = after === null ? {} : { after };
    const page = await store.listTasks({ name, state: "dead", max: listMax, ...from });
    for (const task of page.tasks)
      if (task.kind === kind && isLike(task.error, like)) taskIds.push(task.task);
    lookedAt += page.tasks.length;
    after = page.next;
  } while (after !== null && taskIds.length < redriveMax.found && lookedAt < redriveMax.lookedAt);
  return { taskIds: taskIds.reverse(), more: after !== null };
}
