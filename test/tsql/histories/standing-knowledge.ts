import type { ScheduledInstant } from "../../../shared/ports/task-store";
import type { Call } from "./call";
import type { Outcome } from "./perform";
import type { ScheduleName } from "./call-names";
import type { AdvanceWatermarkCall, StandingAction } from "./standing-call";

/** A schedule as the answers tell of it. */
export interface KnownSchedule {
  readonly name: ScheduleName;
  readonly definition: string;
  /** As its definition calls it. */
  readonly ownName: string;
  nextRunAtMs: number | null;
  isPaused: boolean;
}

/** What the answers so far tell of schedules, watermarks and shared limits. */
export class StandingKnowledge {
  schedules: KnownSchedule[] = [];
  /** By definition and name. */
  readonly versions = new Map<string, string>();
  /** Calls that may be repeated, with their operation id if they have one. */
  readonly advances: AdvanceWatermarkCall[] = [];
  readonly watermarkCalls: Extract<StandingAction, { do: "setWatermark" }>[] = [];
  readonly sharedLimitCalls: Extract<StandingAction, { do: "setSharedLimit" }>[] = [];

  learn(call: Call, outcome: Outcome): void {
    switch (call.do) {
      case "advanceWatermark":
        this.advances.push(call);
        break;
      case "setWatermark":
        this.watermarkCalls.push(call);
        break;
      case "setSharedLimit":
        this.sharedLimitCalls.push(call);
        break;
      case "setSchedules":
        if (outcome.did === "setSchedules") this.#learnSchedules(call.definition, outcome.answer);
        break;
      case "setSchedulePaused":
        if (outcome.did === "setSchedulePaused") this.#learnPause(call);
        break;
      case "fireSchedule":
        if (outcome.did === "fireSchedule" && outcome.answer.status === "fired") {
          const row = this.schedules.find(({ name }) => name === call.schedule);
          if (row !== undefined) row.nextRunAtMs = call.nextRunAtMs;
        }
        break;
      default:
        break;
    }
    this.#learnVersion(call, outcome);
    if (outcome.did === "sweep") for (const due of outcome.answer.schedules) this.#learnDue(due);
  }

  #learnSchedules(
    definition: string,
    { listed }: Extract<Outcome, { did: "setSchedules" }>["answer"],
  ): void {
    const others = this.schedules.filter((row) => row.definition !== definition);
    const own = listed.map(({ id, name: ownName, runAt, paused: isPaused }): KnownSchedule => {
      const nextRunAtMs = runAt === null ? null : msOf(runAt);
      return { name: String(id), definition, ownName, nextRunAtMs, isPaused };
    });
    this.schedules = [...others, ...own];
  }

  #learnPause(call: Extract<StandingAction, { do: "setSchedulePaused" }>): void {
    const row = this.schedules.find(
      ({ definition, ownName }) => definition === call.definition && ownName === call.schedule,
    );
    if (row === undefined) return;
    row.isPaused = call.paused;
    if (!call.paused) row.nextRunAtMs = call.nextRunAtMs;
  }

  /** The sweep tells their place, for any earlier belief. */
  #learnDue({ id, runAt }: ScheduledInstant): void {
    const row = this.schedules.find(({ name }) => name === String(id));
    if (row === undefined) return;
    row.nextRunAtMs = msOf(runAt);
    row.isPaused = false;
  }

  #learnVersion(call: Call, outcome: Outcome): void {
    if (call.do !== "advanceWatermark" && call.do !== "setWatermark") return;
    if (outcome.did !== "advanceWatermark" && outcome.did !== "setWatermark") return;
    this.versions.set(`${call.definition} ${call.watermark}`, outcome.answer.version);
  }
}

/** Instants in answers are told from the start. */
function msOf(instant: string): number {
  const ms = /^start \+ (-?\d+) ms$/.exec(instant)?.[1];
  if (ms === undefined) throw new Error(`Expected an instant of an answer, got ${instant}`);
  return Number(ms);
}
