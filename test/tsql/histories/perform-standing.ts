import type * as schedules from "../../../shared/ports/task-store";
import type * as port from "../../../shared/ports/task-store";
import type * as watermarks from "../../../shared/ports/task-store";
import type { Call } from "./call";
import type { CallId } from "./call-names";
import { operationIdOf } from "./names";
import { newTasks } from "./new-tasks";
import type { Side } from "./side";
import type { AdvanceWatermarkCall, StandingAction } from "./standing-call";

/** Answers about the rows beside tasks. */
export interface StandingAnswers {
  /** With all schedules of the definition as they stand then: they are fired by the numbers in it. */
  setSchedules: schedules.SetSchedulesAnswer & { listed: schedules.ScheduleStatus[] };
  setSchedulePaused: schedules.SetSchedulePausedAnswer;
  fireSchedule: schedules.FireScheduleAnswer;
  listSchedules: schedules.ListSchedulesAnswer;
  advanceWatermark: watermarks.AdvanceWatermarkAnswer;
  setWatermark: watermarks.SetWatermarkAnswer;
  listWatermarks: { watermarks: watermarks.WatermarkStatus[] };
  setSharedLimit: port.SetSharedLimitAnswer;
  listSharedLimits: { sharedLimits: port.SharedLimitReading[] };
}

type StandingCall = Extract<Call, { do: StandingAction["do"] }>;

const changedBy = "an operator";

/** Makes the call. */
export async function performStanding(
  side: Side,
  call: StandingCall,
): Promise<StandingAnswers[StandingAction["do"]]> {
  const { store } = side;
  switch (call.do) {
    case "setSchedules":
      return setSchedules(side, call);
    case "setSchedulePaused": {
      const { definition: name, schedule, paused, nextRunAtMs } = call;
      const nextRunAt = instant(side, nextRunAtMs);
      return store.setSchedulePaused({ name, schedule, paused, nextRunAt, changedBy });
    }
    case "fireSchedule":
      return fireSchedule(side, call);
    case "listSchedules":
      return store.listSchedules({ ...named(call.definition), max: call.max });
    case "advanceWatermark":
      return advanceWatermark(side, call);
    case "setWatermark": {
      const { definition: name, watermark, value, expectedVersion } = call;
      const operationId = operationIdOf(call.operation);
      const expected = expectedVersion === undefined ? {} : { expectedVersion };
      return store.setWatermark({ name, watermark, value, ...expected, operationId, changedBy });
    }
    case "listWatermarks":
      return store.listWatermarks({ ...named(call.definition), max: call.max });
    case "setSharedLimit": {
      const { shared: name, limit } = call;
      const operationId = operationIdOf(call.operation);
      return store.setSharedLimit({ name, limit, operationId, changedBy });
    }
    case "listSharedLimits":
      return store.listSharedLimits({ max: call.max });
  }
}

async function setSchedules(
  side: Side,
  call: Extract<StandingCall, { do: "setSchedules" }>,
): Promise<StandingAnswers["setSchedules"]> {
  const { store } = side;
  const { definition: name, build } = call;
  const wanted = call.schedules.map(({ nextRunAtMs, ...schedule }) => ({
    ...schedule,
    nextRunAt: instant(side, nextRunAtMs),
  }));
  const answer = await store.setSchedules({
    name,
    build,
    changedBy: "the code",
    schedules: wanted,
  });
  const { schedules: listed } = await store.listSchedules({ name, max: 100 });
  for (const schedule of listed) {
    side.names.bind("schedule", `s${call.id} ${schedule.name}`, String(schedule.id));
  }
  return { ...answer, listed };
}

async function fireSchedule(
  side: Side,
  call: Extract<StandingCall, { do: "fireSchedule" }>,
): Promise<schedules.FireScheduleAnswer> {
  const answer = await side.store.fireSchedule({
    scheduleId: side.schedule(call.schedule),
    expectedRunAt: new Date(side.startMs + call.expectedRunAtMs),
    runAts: call.runAtsMs.map((ms) => new Date(side.startMs + ms)),
    nextRunAt: instant(side, call.nextRunAtMs),
  });
  side.bindTasks(call.id, answer.taskIds);
  return answer;
}

/** Also inside a user's transaction. */
export async function advanceWatermark(
  side: Side,
  call: { readonly id: CallId } & AdvanceWatermarkCall,
  within?: port.StoreTransaction,
): Promise<watermarks.AdvanceWatermarkAnswer> {
  const { definition: name, watermark, expectedVersion, value, build, operation } = call;
  const tasks = newTasks(side, call.tasks);
  const operationId = operation === null ? null : operationIdOf(operation);
  const input = { name, watermark, expectedVersion, value, build, tasks, operationId };
  const answer = await side.store.advanceWatermark(input, within);
  side.bindTasks(call.id, answer.taskIds);
  return answer;
}

function instant(side: Side, ms: number | null): Date | null {
  return ms === null ? null : new Date(side.startMs + ms);
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name };
}
