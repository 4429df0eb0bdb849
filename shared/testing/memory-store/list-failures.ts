import { compareTexts } from "../../core/text";
import type { EqualFailures } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange, left } from "./arguments";
import { iso } from "./instants";
import { newestEnded } from "./archive-rows";
import { definitionNamed } from "./rows";
import type { ArchiveRow } from "./state";

/** list_failures: dead tasks put together by definition, kind and error. */
export const listFailures: Implementation<"listFailures"> = (memory, input) => {
  expectRange("max", input.max, [1, 5_000]);
  const { state } = memory;
  const asked =
    input.name === undefined
      ? [...state.definitions.values()]
      : [definitionNamed(state, input.name)];
  const deadOf = asked
    .map(({ definitionId, name }) => ({ name, rows: newestEnded(state, definitionId, "dead") }))
    .filter(({ rows }) => rows.length > 0);
  const each =
    input.name === undefined
      ? Math.max(Math.floor(input.max / Math.max(deadOf.length, 1)), 10)
      : input.max;
  const groups = new Map<string, EqualFailures>();
  let lookedAt = 0;
  for (const { name, rows } of deadOf) {
    for (const row of rows.slice(0, each)) {
      lookedAt += 1;
      addTo(groups, name, row);
    }
  }
  return {
    lookedAt,
    isWhole: deadOf.every(({ rows }) => rows.length <= each),
    failures: [...groups.values()].sort(
      (a, b) =>
        b.count - a.count ||
        compareTexts(b.lastAt, a.lastAt) ||
        compareTexts(a.taskIds.join(","), b.taskIds.join(",")),
    ),
  };
};

/** Rows come newest first. */
function addTo(
  groups: Map<string, EqualFailures>,
  definition: string,
  { task, endedAtMs }: ArchiveRow,
): void {
  const { kind, lastError, taskId } = task;
  const error = lastError === null ? null : left(lastError, 300).replace(/ +$/, "");
  const at = iso(endedAtMs);
  const id = JSON.stringify([definition, kind, error]);
  const group = groups.get(id);
  if (group === undefined) {
    const found = { definition, kind, error, count: 1, firstAt: at, lastAt: at };
    groups.set(id, { ...found, taskIds: [taskId] });
    return;
  }
  group.count += 1;
  group.firstAt = at;
  group.taskIds.push(taskId);
}
