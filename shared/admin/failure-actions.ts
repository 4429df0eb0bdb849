import { limits } from "../core/limits";
import type { ActorInput } from "../ports/task-store";
import type { AdminTools } from "./admin-tools";
import { groupFailures } from "./failure-groups";
import type { FailureGroup } from "./failure-groups";
import type { FailuresRequest, RedriveFailuresRequest } from "./failure-requests";
import { redriveTasks } from "./task-actions";

/** Dead tasks by error, for operators: the list, and a redrive of one error's tasks. */

/** Dead tasks by error. */
export interface FailuresReport {
  /** Most first, at most so many as were asked for. */
  readonly groups: readonly FailureGroup[];
  /** There are other groups. */
  readonly more: boolean;
  /** Dead tasks that were looked at, the newest of each definition. */
  readonly read: number;
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
}

/** Dead tasks that one look reads: of one definition, and of all of them together. Errors that all differ make an answer as long. */
const failuresReadMax = { ofOne: 5_000, ofAll: 2_500 } as const;

/** Failures by error, over all definitions or of one. */
export async function listFailures(
  { store }: AdminTools,
  { definition, max }: FailuresRequest,
): Promise<FailuresReport> {
  const answer = await store.listFailures(
    definition === undefined
      ? { max: failuresReadMax.ofAll }
      : { name: definition, max: failuresReadMax.ofOne },
  );
  const groups = groupFailures(answer.failures);
  return {
    groups: groups.slice(0, max).map(({ group }) => group),
    more: groups.length > max,
    read: answer.lookedAt,
    isWhole: answer.isWhole,
  };
}

/** Retries the dead tasks of one group, a thousand a call; with `dryRun` only counts them. */
export async function redriveFailures(
  tools: AdminTools,
  { definition, kind, like, dryRun, ...actor }: RedriveFailuresRequest & ActorInput,
): Promise<RedriveFailuresReport> {
  const { failures } = await tools.store.listFailures({
    name: definition,
    max: failuresReadMax.ofOne,
  });
  const taskIds =
    groupFailures(failures).find(({ group }) => group.kind === kind && group.like === like)
      ?.taskIds ?? [];
  const found = taskIds.length;
  if (dryRun) return { found, redriven: 0, left: 0 };
  let redriven = 0;
  for (let from = 0; from < found; from += limits.idsMax) {
    const slice = taskIds.slice(from, from + limits.idsMax);
    const { tasks } = await redriveTasks(tools, { taskIds: slice, ...actor });
    redriven += tasks.filter(({ outcome }) => outcome === "redriven").length;
  }
  return { found, redriven, left: found - redriven };
}
