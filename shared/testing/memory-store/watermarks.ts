import { compareTexts } from "../../core/text";
import type * as port from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { conflict, expectRange } from "./arguments";
import { audit, byOperator } from "./audit";
import { enqueueTasks } from "./enqueue";
import { iso } from "./instants";
import { firstAnswer, keepAnswer } from "./kept-answers";
import { definitionNamed } from "./rows";
import type { DefinitionRow, Memory, WatermarkRow } from "./state";

/** Characters of a value that the audit keeps: its columns have 400. */
const auditedValueMax = 190;

/** advance_watermark: moves it and adds the tasks, from the expected version only. */
export const advanceWatermark: Implementation<"advanceWatermark"> = (memory, input) => {
  const definition = definitionNamed(memory.state, input.name);
  const call = callOf("advance_watermark", definition, input);
  const first = firstAnswer<port.AdvanceWatermarkAnswer>(memory, call);
  if (first !== undefined) return first;
  const nothing = { taskIds: [], outcomes: [], ready: false, nextDueMs: null };
  const old = find(memory, definition, input.watermark);
  if (versionOf(old) !== input.expectedVersion) {
    return { status: "conflict", version: versionOf(old), value: old?.value ?? null, ...nothing };
  }
  const hasKeys =
    input.tasks.some(({ dedupeKey }) => dedupeKey !== undefined) ||
    [...definition.kinds.values()].some(({ dedupeBy }) => dedupeBy !== null);
  const before = input.needsAll === true && hasKeys ? structuredClone(memory.state) : null;
  // Other work may follow before the commit, so grouped tasks are scheduled as due now.
  const added =
    input.tasks.length === 0
      ? nothing
      : enqueueTasks(memory, { ...input, operationId: null }, true);
  const duplicate = added.outcomes.findIndex((outcome) => outcome !== "enqueued");
  if (before !== null && duplicate !== -1) {
    Object.assign(memory.state, before);
    throw conflict(
      `tasks[${String(duplicate)}]: expected a dedupe key that no other task holds, as no block may be left out (task ${String(added.taskIds[duplicate])} holds it)`,
    );
  }
  const version = write(memory, definition, input);
  return keepAnswer(memory, call, { ...added, status: "advanced", version, value: null });
};

/** set_watermark: an operator's. */
export const setWatermark: Implementation<"setWatermark"> = (memory, input) => {
  const definition = definitionNamed(memory.state, input.name);
  const call = callOf("set_watermark", definition, input);
  const first = firstAnswer<port.SetWatermarkAnswer>(memory, call);
  if (first !== undefined) return first;
  const old = find(memory, definition, input.watermark);
  const oldValue = old?.value ?? null;
  if (input.expectedVersion !== undefined && versionOf(old) !== input.expectedVersion) {
    return { status: "conflict", version: versionOf(old), oldValue };
  }
  const version = write(memory, definition, input);
  audit(memory, definition, {
    setting: "watermark",
    oldValue: audited(oldValue, input.watermark),
    newValue: audited(input.value, input.watermark),
    ...byOperator(input),
  });
  return keepAnswer(memory, call, { status: "set", version, oldValue });
};

function callOf(
  name: string,
  { definitionId }: DefinitionRow,
  { operationId, watermark }: Pick<port.AdvanceWatermarkInput, "operationId" | "watermark">,
) {
  return { operationId, name, target: `${String(definitionId)}/${watermark}` };
}

/** The first ` of ` ends the value: one that has it is written with an escape that JSON knows. */
function audited(value: string | null, watermark: string): string | null {
  if (value === null) return null;
  const escaped = value.replaceAll(" of", String.raw` o\u0066`);
  return `${escaped.slice(0, auditedValueMax)} of ${watermark}`;
}

/** list_watermarks: by definition as registered, then name. */
export const listWatermarks: Implementation<"listWatermarks"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const only = input.name === undefined ? null : definitionNamed(memory.state, input.name);
  const watermarks = memory.state.watermarks
    .filter((row) => only === null || row.definitionId === only.definitionId)
    .filter((row) => input.watermark === undefined || row.name === input.watermark)
    .sort((a, b) => a.definitionId - b.definitionId || compareTexts(a.name, b.name))
    .slice(0, input.max)
    .map((row) => ({
      definition: memory.state.definitions.get(row.definitionId)?.name ?? "",
      name: row.name,
      value: row.value,
      version: String(row.version),
      changedAt: iso(row.changedAtMs),
    }));
  return { watermarks };
};

function find(memory: Memory, definition: DefinitionRow, name: string): WatermarkRow | undefined {
  const { definitionId } = definition;
  return memory.state.watermarks.find(
    (row) => row.definitionId === definitionId && row.name === name,
  );
}

function versionOf(row: WatermarkRow | undefined): string {
  return String(row?.version ?? 0);
}

function write(
  memory: Memory,
  definition: DefinitionRow,
  { watermark: name, value }: { watermark: string; value: string | null },
): string {
  const old = find(memory, definition, name);
  const row: WatermarkRow = {
    definitionId: definition.definitionId,
    name,
    value,
    version: (old?.version ?? 0) + 1,
    changedAtMs: memory.nowMs,
  };
  memory.state.watermarks = [...memory.state.watermarks.filter((other) => other !== old), row];
  return String(row.version);
}
