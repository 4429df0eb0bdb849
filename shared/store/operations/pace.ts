import { asTaskId } from "../../core/ids";
import type { TaskId } from "../../core/ids";
import { checkMax, checkName } from "./checks";
import { int, intOrNull, json, text, textOrNull } from "./columns";
import { withAnswerWords } from "./answer-words";
import { operationsOf } from "./operation";

/* ---- Pace: how fast tasks of a definition end, how long they run, how old the oldest one is ---- */

/** How a definition gets on. */
export interface PaceOperations {
  /** From the tasks that ended well within the last hour, and from those that are ready. */
  readPace(input: ReadPaceInput): Promise<ReadPaceAnswer>;
}

export interface ReadPaceInput {
  name: string;
  /** So many ended tasks are looked at, the newest ones; 1..1000. */
  max: number;
}

export interface ReadPaceAnswer {
  /** The database's clock. */
  now: Date;
  /**
   * Of the first 100 ready tasks of each priority, of at most 20 priorities, the one that has been due for longest; null: none is
   * ready. dueAt: since when it may start; its enqueue, or later: the end of its delay, its reschedule, the opening of its wave.
   */
  oldestReady: { taskId: TaskId; createdAt: string; dueAt: string } | null;
  /** Tasks looked at. */
  ended: number;
  /** From the end of the earliest of them until now; null: there is none. */
  overMs: number | null;
  /** By kind. */
  kinds: KindPace[];
}

/** How long tasks of a kind have run. */
export interface KindPace {
  kind: string;
  ended: number;
  /** Half of the measured ones took at most so long; null: none was measured. */
  p50Ms: number | null;
  /** 99 of 100 of them. */
  p99Ms: number | null;
}

const operation = operationsOf<PaceOperations>();

/** Procedure `read_pace`. */
export const readPace = operation("readPace", {
  right: "worker",
  parameters: { name: "text", max: "int" },
  check: (input) => {
    checkName(input.name);
    return checkMax(input);
  },
  decode: (row) => {
    const taskId = textOrNull(row, "oldestTaskId");
    const createdAt = textOrNull(row, "oldestCreatedAt");
    const dueAt = textOrNull(row, "oldestDueAt");
    return {
      now: new Date(text(row, "nowAt")),
      oldestReady:
        taskId === null || createdAt === null || dueAt === null
          ? null
          : { taskId: asTaskId(taskId), createdAt, dueAt },
      ended: int(row, "finished"),
      overMs: intOrNull(row, "overMs"),
      kinds: json<object[]>(row, "kinds").map((kind) => withAnswerWords<KindPace>(kind)),
    };
  },
});
