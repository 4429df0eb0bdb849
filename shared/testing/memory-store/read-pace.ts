import { compareTexts } from "../../core/text";
import type { KindPace } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { iso } from "./instants";
import { newestEnded } from "./archive-rows";
import { compareNumbers, definitionNamed, dueSince, readyOf, taskOf } from "./rows";
import type { ArchiveRow, DefinitionRow, Memory, TaskRow } from "./state";

const hourMs = 3_600_000;
const prioritiesMax = 20;
/** Of each priority. */
const tasksMax = 100;

/** read_pace: how fast tasks end, how long they run, which ready one is the oldest. */
export const readPace: Implementation<"readPace"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const definition = definitionNamed(memory.state, input.name);
  const oldest = oldestReady(memory, definition);
  const rows = newestEnded(memory.state, definition.definitionId, "done")
    .filter((row) => row.endedAtMs > memory.nowMs - hourMs)
    .slice(0, input.max);
  const firstAtMs = rows.at(-1)?.endedAtMs;
  const kinds = [...new Set(rows.map((row) => row.task.kind))].sort(compareTexts);
  return {
    now: new Date(memory.nowMs),
    oldestReady:
      oldest === null
        ? null
        : {
            taskId: oldest.taskId,
            createdAt: iso(oldest.createdAtMs),
            dueAt: iso(dueSince(memory.state, oldest)),
          },
    ended: rows.length,
    overMs: firstAtMs === undefined ? null : memory.nowMs - firstAtMs,
    kinds: kinds.map((kind) => paceOf(kind, rows)),
  };
};

/** Of the first tasks of each priority, the one that is due for longest. */
function oldestReady(memory: Memory, definition: DefinitionRow): TaskRow | null {
  const first = new Map<number, TaskRow[]>();
  for (const row of readyOf(memory.state, definition)) {
    const tasks = first.get(row.priority) ?? [];
    if (tasks.length === tasksMax || (tasks.length === 0 && first.size === prioritiesMax)) continue;
    first.set(row.priority, [...tasks, taskOf(memory.state, row.taskId)]);
  }
  const byAge = [...first.values()]
    .flat()
    .sort(
      (a, b) =>
        dueSince(memory.state, a) - dueSince(memory.state, b) || compareNumbers(a.taskId, b.taskId),
    );
  return byAge[0] ?? null;
}

function paceOf(kind: string, rows: readonly ArchiveRow[]): KindPace {
  const own = rows.filter((row) => row.task.kind === kind);
  const measured = own.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
  const reach = (share: number): number | null =>
    measured[Math.ceil(measured.length * share) - 1] ?? null;
  return { kind, ended: own.length, p50Ms: reach(0.5), p99Ms: reach(0.99) };
}
