import { messageOf } from "../../core/foreign-value";
import { dueRuns, nextRun } from "../../core/cron";
import type { ScheduledInstant, ScheduleStatus } from "../../ports/task-store";
import type { KindSchedule } from "../define/task-kind";
import { nameOf } from "../environment";
import type { WorkerEnvironment } from "../environment";
import { ownDefinitions, register } from "../client/register";
import type { Registry } from "../define/registry";

/** Schedules that one read tells of. */
const listedMax = 1_000;

/** Makes all that this build has known to the database: its definitions, then their schedules. Idempotent. Leaves out what belongs to other apps. */
export async function registerBuild(
  environment: WorkerEnvironment,
  registry: Registry,
): Promise<void> {
  for (const definition of await ownDefinitions(environment, registry))
    await register(environment, definition);
  await registerSchedules(environment, registry);
}

/**
 * Writes the code's schedules, where the database has them otherwise, and leaves a hint for the next instant of each such
 * definition. One read when all is well. Their definitions are registered already.
 */
export async function registerSchedules(
  environment: WorkerEnvironment,
  registry: Registry,
): Promise<void> {
  const { store, build, logger, wakeUp } = environment;
  const { now, schedules } = await store.listSchedules({ max: listedMax });
  for (const { name } of await ownDefinitions(environment, registry)) {
    const wanted = registry.schedules(name);
    const known = schedules.filter((schedule) => schedule.definition === name);
    if (schedules.length < listedMax && isSame(wanted, known)) continue;
    const answer = await store.setSchedules({
      name,
      build,
      changedBy: nameOf(environment),
      schedules: wanted.map((schedule) => ({ ...schedule, nextRunAt: nextRun(schedule, now) })),
    });
    if (answer.status !== "exists") {
      logger.info("schedules registered", {
        definition: name,
        status: answer.status,
        changed: answer.changed,
      });
    }
    if (answer.nextDueMs !== null && answer.status === "set")
      await wakeUp.hint(name, { inMs: answer.nextDueMs, forSchedule: true });
  }
}

function isSame(wanted: readonly KindSchedule[], known: readonly ScheduleStatus[]): boolean {
  const fields = ["kind", "cron", "timeZone", "missed", "payload", "group"] as const;
  return (
    wanted.length === known.length &&
    wanted.every((schedule) => {
      const other = known.find(({ name }) => name === schedule.name);
      return other !== undefined && fields.every((field) => schedule[field] === other[field]);
    })
  );
}

/** What a hint for a definition's schedules asks for: one read, then those that are due. A hint for the next one is left. */
export async function fireDueSchedules(
  environment: WorkerEnvironment,
  { definition, untilMs }: { definition: string; untilMs: number },
): Promise<void> {
  const { schedules } = await environment.store.listSchedules({
    name: definition,
    max: listedMax,
  });
  const coming = schedules.flatMap(({ runAt, inMs, paused, ...schedule }) =>
    runAt === null || inMs === null || paused ? [] : [{ ...schedule, runAt, inMs }],
  );
  await fireSchedules(
    environment,
    coming.filter((schedule) => schedule.inMs <= 0),
    untilMs,
  );
  // The hint came early: it is cut at 6 days.
  const later = coming.map((schedule) => schedule.inMs).filter((inMs) => inMs > 0);
  if (later.length > 0)
    await environment.wakeUp.hint(definition, { inMs: Math.min(...later), forSchedule: true });
}

/**
 * Enqueues the tasks of due schedules, one after another, and leaves hints: for the tasks, and for each next instant. A
 * schedule that another process fires meanwhile is left to it; the next sweep fires the rest after `untilMs` (monotonic).
 * One that fails, for example because SQL wrote an expression that can't be read, doesn't keep the others.
 */
export async function fireSchedules(
  environment: WorkerEnvironment,
  due: readonly ScheduledInstant[],
  untilMs: number,
): Promise<void> {
  const { clock, logger } = environment;
  for (const schedule of due) {
    if (clock.monotonicMs() >= untilMs) return;
    try {
      await fireAll(environment, schedule, untilMs);
    } catch (error) {
      logger.error("a schedule could not be fired; the next sweep tries again", {
        definition: schedule.definition,
        schedule: schedule.name,
        error: messageOf(error),
      });
    }
  }
}

/** One schedule, in calls of at most 100 instants. */
async function fireAll(
  { store, clock, wakeUp, logger, telemetry }: WorkerEnvironment,
  schedule: ScheduledInstant,
  untilMs: number,
): Promise<void> {
  const { id, definition } = schedule;
  // By the database's clock, as of the read that found it due.
  const now = new Date(Date.parse(schedule.runAt) - schedule.inMs);
  let dueAt: Date | null = new Date(schedule.runAt);
  while (dueAt !== null && dueAt <= now && clock.monotonicMs() < untilMs) {
    const runs = dueRuns(schedule, { dueAt, now });
    const answer = await store.fireSchedule({
      scheduleId: id,
      expectedRunAt: dueAt,
      ...runs,
    });
    dueAt = answer.status === "fired" ? runs.nextRunAt : null;
    if (answer.taskIds.length > 0) await wakeUp.hint(definition);
    telemetry.count("taskgate.task.enqueued", answer.taskIds.length);
    if (answer.status === "fired" && runs.runAts.length === 0) {
      logger.warn("instants of a schedule were missed and are skipped", {
        definition,
        schedule: schedule.name,
        since: schedule.runAt,
      });
    }
    // stale: the process that fired it leaves the hint.
    if (answer.status === "fired" && answer.nextDueMs !== null)
      await wakeUp.hint(definition, { inMs: answer.nextDueMs, forSchedule: true });
  }
}
