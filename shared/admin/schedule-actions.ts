import { nextRun } from "../core/cron";
import { nearNames } from "../core/near-name";
import type { ScheduleStatus, SetSchedulePausedInput } from "../ports/task-store";
import type { AdminTools, OfDefinition } from "./admin-tools";
import { invalidInput, showValue } from "./read-result";
import { withoutConflict } from "./settings-conflict";

/** What operators do with schedules. */

/** A pause or its end; with `expectedPaused` only if it is so now. */
export type ScheduleChange = OfDefinition<
  Pick<SetSchedulePausedInput, "name" | "schedule" | "changedBy" | "reason" | "expectedPaused">
>;

/** Schedules of one definition. */
const schedulesMax = 1_000;

/** One schedule of a definition, as `pickSchedule` picks it, and the database's instant of the read. */
export async function getSchedule(
  { store }: AdminTools,
  { definition, schedule }: { definition: string; schedule?: string | undefined },
): Promise<{ found: ScheduleStatus; now: Date }> {
  const { now, schedules } = await store.listSchedules({ name: definition, max: schedulesMax });
  return { found: pickSchedule(schedules, schedule), now };
}

/**
 * The schedule of that name among those of a definition; without a name their only one. Throws InvalidArgumentError naming the schedules
 * that there are: (unknown) for a name that isn't among them, and where none is named and there is more than one.
 */
export function pickSchedule<Schedule extends { readonly name: string }>(
  schedules: readonly Schedule[],
  name: string | undefined,
): Schedule {
  const isOnly = name === undefined && schedules.length === 1;
  const found = isOnly ? schedules[0] : schedules.find((other) => other.name === name);
  if (found === undefined) throw unknownSchedule(name, schedules);
  return found;
}

/**
 * Stops a schedule, or lets it go on with its next instant from now; leaves a hint for that. The status is `exists` where it was so already;
 * `nextDueMs` is null where it is paused, or comes never again. Throws SettingsConflict.
 */
export async function setSchedulePaused(
  tools: AdminTools,
  request: ScheduleChange & { readonly paused: boolean },
) {
  const { definition: name, schedule, paused, ...change } = request;
  const { store, wakeUp } = tools;
  const { found, now } = await getSchedule(tools, { definition: name, schedule });
  const { status, nextDueMs } = await store.setSchedulePaused({
    ...change,
    name,
    schedule,
    paused,
    nextRunAt: paused ? null : nextRun(found, now),
  });
  if (nextDueMs !== null) await wakeUp.hint(name, { inMs: nextDueMs, forSchedule: true });
  return { definition: name, schedule, status: withoutConflict(status), nextDueMs };
}

function unknownSchedule(
  name: string | undefined,
  schedules: readonly { readonly name: string }[],
) {
  const names = schedules.map((schedule) => schedule.name);
  const near = name === undefined ? [] : nearNames(name, names, 3);
  const listed = (near.length > 0 ? near : names.slice(0, 10)).map((other) => `\`${other}\``);
  const hint = names.length === 0 ? "the definition has none" : `there are ${listed.join(", ")}`;
  const expected = `the name of one of the definition's schedules; ${hint}`;
  return invalidInput(
    [{ field: "schedule", value: showValue(name), expected }],
    name === undefined && names.length > 0 ? "TASKGATE_ARG_INVALID" : "TASKGATE_ARG_UNKNOWN",
  );
}
