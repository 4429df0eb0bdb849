import type * as port from "../../ports/watermarks";
import { expectRange } from "./arguments";
import { audit } from "./audit";
import { enqueueTasks } from "./enqueue";
import { compareTexts, definitionNamed, earlierOperation, usedElsewhere } from "./rows";
import type { DefinitionRow, Model, WatermarkRow } from "./state";

/** Characters of a value that the audit keeps: its columns have 400. */
const auditedValueMax = 190;

/** advance_watermark: moves it and adds the tasks, from the expected version only. */
export function advanceWatermark(
  model: Model,
  input: port.AdvanceWatermarkInput,
): port.AdvanceWatermarkAnswer {
  const definition = definitionNamed(model.state, input.name);
  const earlier = earlierOperation(model.state, input.operationId);
  if (earlier?.name === "advance_watermark") return earlier.answer;
  if (earlier !== undefined) throw usedElsewhere(input.operationId);
  const nothing = { taskIds: [], outcomes: [], ready: false, nextDueMs: null };
  const old = find(model, definition, input.watermark);
  if (versionOf(old) !== input.expectedVersion) {
    return { status: "conflict", version: versionOf(old), value: old?.value ?? null, ...nothing };
  }
  // Other work may follow before the commit, so grouped tasks are scheduled as due now.
  const added =
    input.tasks.length === 0 ? nothing : enqueueTasks(model, { ...input, operationId: null }, true);
  const version = write(model, definition, input);
  const answer: port.AdvanceWatermarkAnswer = {
    status: "advanced",
    version,
    value: null,
    taskIds: added.taskIds,
    outcomes: added.outcomes,
    ready: added.ready,
    nextDueMs: added.nextDueMs,
  };
  if (input.operationId !== null) {
    model.state.operations.set(input.operationId, {
      doneAtMs: model.nowMs,
      name: "advance_watermark",
      answer,
    });
  }
  return answer;
}

/** set_watermark: an operator's. */
export function setWatermark(model: Model, input: port.SetWatermarkInput): port.SetWatermarkAnswer {
  const definition = definitionNamed(model.state, input.name);
  const earlier = earlierOperation(model.state, input.operationId);
  if (earlier?.name === "set_watermark") return earlier.answer;
  if (earlier !== undefined) throw usedElsewhere(input.operationId);
  const old = find(model, definition, input.watermark);
  const oldValue = old?.value ?? null;
  if (input.expectedVersion !== undefined && versionOf(old) !== input.expectedVersion) {
    return { status: "conflict", version: versionOf(old), oldValue };
  }
  const answer: port.SetWatermarkAnswer = {
    status: "set",
    version: write(model, definition, input),
    oldValue,
  };
  audit(model, definition, {
    setting: "watermark",
    oldValue: audited(oldValue, input.watermark),
    newValue: audited(input.value, input.watermark),
    source: "operator",
    changedBy: input.changedBy,
    reason: input.reason ?? null,
  });
  model.state.operations.set(input.operationId, {
    doneAtMs: model.nowMs,
    name: "set_watermark",
    answer,
  });
  return answer;
}

/** The first ` of ` ends the value: one that has it is written with an escape that JSON knows. */
function audited(value: string | null, watermark: string): string | null {
  if (value === null) return null;
  const escaped = value.replaceAll(" of", String.raw` o\u0066`);
  return `${escaped.slice(0, auditedValueMax)} of ${watermark}`;
}

/** list_watermarks: by definition and name. */
export function listWatermarks(
  model: Model,
  input: port.ListWatermarksInput,
): { watermarks: port.WatermarkStatus[] } {
  expectRange("most", input.most, [1, 1_000]);
  const only = input.name === undefined ? null : definitionNamed(model.state, input.name);
  const watermarks = model.state.watermarks
    .filter((row) => only === null || row.definitionId === only.definitionId)
    .filter((row) => input.watermark === undefined || row.name === input.watermark)
    .sort((a, b) => a.definitionId - b.definitionId || compareTexts(a.name, b.name))
    .slice(0, input.most)
    .map((row) => ({
      definition: model.state.definitions.get(row.definitionId)?.name ?? "",
      name: row.name,
      value: row.value,
      version: String(row.version),
      changedAt: new Date(row.changedAtMs).toISOString(),
    }));
  return { watermarks };
}

function find(model: Model, definition: DefinitionRow, name: string): WatermarkRow | undefined {
  const { definitionId } = definition;
  return model.state.watermarks.find(
    (row) => row.definitionId === definitionId && row.name === name,
  );
}

function versionOf(row: WatermarkRow | undefined): string {
  return String(row?.version ?? 0);
}

function write(
  model: Model,
  definition: DefinitionRow,
  { watermark: name, value }: { watermark: string; value: string | null },
): string {
  const old = find(model, definition, name);
  const row: WatermarkRow = {
    definitionId: definition.definitionId,
    name,
    value,
    version: (old?.version ?? 0) + 1,
    changedAtMs: model.nowMs,
  };
  model.state.watermarks = [...model.state.watermarks.filter((other) => other !== old), row];
  return String(row.version);
}
