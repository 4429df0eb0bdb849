import { TaskgateError } from "../core/errors";
import type { ActorInput, ScheduleStatus, StopNote } from "../ports/task-store";
import type { Timers } from "../ports/timers";
import type { Actor, AdminTools } from "./admin-tools";
import { setSchedulePaused } from "./schedule-actions";

/**
 * Stops everything, and resumes exactly the stopped definitions and schedules. First the database notes that a stop is on:
 * definitions and schedules that are registered from then on are paused from their beginning, as parts of the stop. Each of the
 * others is paused in a call of its own, so that a locked one holds up no other. A definition that is paused already stays its
 * operator's. The database notes the parts of the stop, so a resume by another person, or after a crash, finds them.
 */

/** Names of definitions, and of schedules with their definitions. */
interface StopParts {
  readonly definitions: readonly string[];
  readonly schedules: readonly ScheduleName[];
}

interface ScheduleName {
  readonly definition: string;
  readonly name: string;
}

/** The changes of a stop or a resume. */
export interface StopReport extends StopParts {
  /** Names of those that were locked for too long: they may still be changed, and the same call again takes them up. */
  readonly left: readonly string[];
}

/** A stop that is in force. At most 1,000 of its definitions and 1,000 of its schedules are told; its end resumes all. */
export type StopState = StopParts & Readonly<StopNote>;

type StopChange = Actor & Pick<ActorInput, "reason">;

type StopTools = AdminTools & { readonly timers: Timers };

/** Parts of a stop of either kind, or schedules of a definition, that one call reads; a definition has 100 schedules at most. */
const stoppedMax = 1_000;
/** Calls at the same time. */
const callsMax = 4;
/**
 * For so long one part is waited for, and those that begin after one was late. The store repeats a call for longer than
 * a person waits, and would leave no time for the other parts: schedules, then definitions, within the 4 s of an answer by HTTP.
 */
const partMs = { first: 1_250, afterLate: 250 };

/** The stop, and how it ends. */
export function describeStop({ by, reason }: Pick<StopState, "by" | "reason">): string {
  const why = reason === null ? "" : ` (${reason})`;
  return `Everything was stopped by ${by}${why}: \`taskgate resume --all\` ends it.`;
}

/** Calls about a stop of everything. */
export function stopCalls(tools: StopTools) {
  return {
    /** The stop that is in force; null: none is. */
    stopState: () => readStop(tools),
    /** Pauses all definitions and schedules that aren't paused. */
    stopAll: (change: StopChange) => stopAll(tools, change),
    /** Resumes the definitions and schedules that a stop has paused, and no others. */
    resumeAll: (change: StopChange) => resumeAll(tools, change),
  };
}

/** The stop in force; null: none is. One of an older build has parts alone: the first of them tells time, actor and reason. */
export async function readStop({ store }: Pick<AdminTools, "store">): Promise<StopState | null> {
  const { stop, definitions, schedules } = await store.listStopped({ max: stoppedMax });
  const [first] = [...definitions, ...schedules].sort((a, b) => (a.at < b.at ? -1 : 1));
  const note = stop ?? first;
  if (note === undefined) return null;
  const { at, by, reason } = note;
  return {
    ...{ at, by, reason },
    definitions: definitions.map(({ definition }) => definition),
    schedules: schedules.map(scheduleName),
  };
}

/** Pauses all that isn't paused: schedules first, so that nothing new comes while definitions stop. */
export async function stopAll(tools: StopTools, change: StopChange): Promise<StopReport> {
  const { store } = tools;
  await store.setStop({ ...change, isOn: true });
  const { definitions } = await store.listDefinitions({});
  const schedules: ScheduleStatus[] = [];
  for (const { name } of definitions)
    schedules.push(...(await store.listSchedules({ name, max: stoppedMax })).schedules);
  const stopped = await changeEach(
    tools,
    schedules.filter(({ paused }) => !paused),
    async ({ definition, name }) => {
      const input = { ...change, name: definition, schedule: name, paused: true, nextRunAt: null };
      return (await store.setSchedulePaused({ ...input, isStop: true })).status === "paused";
    },
  );
  const paused = await changeEach(
    tools,
    definitions.filter(({ paused: isPaused }) => !isPaused),
    async ({ name }) =>
      (await store.pauseDefinition({ ...change, name, isStop: true })).status === "paused",
  );
  return toReport(paused, stopped);
}

/** Resumes all parts of the stop: definitions first, with hints for those whose tasks wait. */
export async function resumeAll(tools: StopTools, change: StopChange): Promise<StopReport> {
  const { store, wakeUp } = tools;
  await store.setStop({ ...change, isOn: false });
  const resumed = await changeEveryPart(
    tools,
    async () =>
      (await store.listStopped({ max: stoppedMax })).definitions.map(({ definition: name }) => ({
        name,
      })),
    async ({ name }) => {
      const { status, ready } = await store.resumeDefinition({ ...change, name });
      if (ready) await wakeUp.hint(name);
      return status === "resumed";
    },
  );
  const going = await changeEveryPart(
    tools,
    async () => (await store.listStopped({ max: stoppedMax })).schedules.map(scheduleName),
    async ({ definition, name }) => {
      const input = { ...change, definition, schedule: name, paused: false };
      return (await setSchedulePaused(tools, input)).status === "resumed";
    },
  );
  return toReport(resumed, going);
}

/** Page by page, until a page brings none that wasn't tried: a changed part stands on no page any more, a locked one does. */
async function changeEveryPart<Item extends object>(
  tools: StopTools,
  nextPage: () => Promise<readonly Item[]>,
  change: (item: Item) => Promise<boolean>,
): Promise<Changed<Item>> {
  const tried = new Set<string>();
  const all: { changed: Item[]; failed: Item[] } = { changed: [], failed: [] };
  for (;;) {
    const page = (await nextPage()).filter((item) => !tried.has(JSON.stringify(item)));
    if (page.length === 0) return all;
    const { changed, failed } = await changeEach(tools, page, change);
    all.changed.push(...changed);
    all.failed.push(...failed);
    for (const item of page) tried.add(JSON.stringify(item));
  }
}

interface Changed<Item> {
  readonly changed: readonly Item[];
  readonly failed: readonly Item[];
}

/** Some at a time. A locked one is left; any other error is thrown when all have been tried. */
async function changeEach<Item>(
  { timers }: StopTools,
  items: readonly Item[],
  change: (item: Item) => Promise<boolean>,
): Promise<Changed<Item>> {
  const waiting = [...items];
  const changed: Item[] = [];
  const failed: Item[] = [];
  let fault: unknown = null;
  let waitMs = partMs.first;
  const work = async (): Promise<void> => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        const answer = await within(timers, waitMs, change(item));
        if (answer === "late") {
          waitMs = partMs.afterLate;
          failed.push(item);
        } else if (answer) changed.push(item);
      } catch (error) {
        if (!isLocked(error)) fault ??= error;
        failed.push(item);
      }
    }
  };
  await Promise.all(Array.from({ length: callsMax }, work));
  if (fault !== null) throw fault as Error;
  return { changed, failed };
}

/** What a call answers; late: it hasn't within `ms`. It may still change its part then. */
async function within(
  timers: Timers,
  ms: number,
  answer: Promise<boolean>,
): Promise<boolean | "late"> {
  answer.catch(() => undefined);
  let cancel = (): void => undefined;
  const late = new Promise<"late">((resolve) => {
    cancel = timers.after(ms, () => {
      resolve("late");
    });
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}

function scheduleName({ definition, name }: ScheduleName): ScheduleName {
  return { definition, name };
}

/** It was locked for longer than its call waits. */
function isLocked(error: unknown): boolean {
  return error instanceof TaskgateError && error.isRetryable;
}

function toReport(
  definitions: Changed<{ readonly name: string }>,
  schedules: Changed<ScheduleName>,
): StopReport {
  return {
    definitions: definitions.changed.map(({ name }) => name).sort(),
    schedules: schedules.changed.map(scheduleName),
    left: [
      ...definitions.failed.map(({ name }) => name),
      ...schedules.failed.map(({ definition, name }) => `${definition} ${name}`),
    ],
  };
}
