import { asOperationId } from "../core/ids";
import type { JsonValue } from "../core/json";
import { describeKnown } from "../core/near-name";
import type { Random } from "../ports/random";
import type { TaskStore } from "../ports/task-store";
import type { SetWatermarkAnswer, WatermarkStatus } from "../ports/task-store";
import { withKnownNames } from "./known-definitions";
import { invalidInput, showValue } from "./read-result";
import type { ListWatermarksRequest, WatermarkRequest } from "./watermark-requests";

/** A near name is looked for among so many. */
const listedMax = 1_000;

/** A watermark as people see it. */
export interface WatermarkReport extends Omit<WatermarkStatus, "value"> {
  /** null: none; the next maker begins anew. */
  readonly value: JsonValue;
}

/** What a change did; conflict: it has another version, nothing was set. */
export interface WatermarkChange {
  readonly definition: string;
  readonly watermark: string;
  readonly status: SetWatermarkAnswer["status"];
  /** The value before; of a conflict the value in the table. */
  readonly old: JsonValue;
  /** The new one; of a conflict the one that stands there. */
  readonly version: string;
}

interface Tools {
  readonly store: TaskStore;
  readonly random: Random;
}

/** Watermarks by definition as registered, then name. */
export async function listWatermarks(
  { store }: Pick<Tools, "store">,
  request: ListWatermarksRequest,
): Promise<WatermarkReport[]> {
  const { watermarks } = await store.listWatermarks(request);
  return watermarks.map(({ value, ...watermark }) => ({ ...watermark, value: parse(value) }));
}

/** Throws InvalidArgumentError (unknown), with near names, for a watermark that the definition doesn't have. */
export async function requireWatermark(
  { store }: Pick<Tools, "store">,
  { definition, watermark }: { definition: string; watermark: string },
): Promise<void> {
  const [found] = await withKnownNames(store, definition, () =>
    listWatermarks({ store }, { name: definition, watermark, max: 1 }),
  );
  if (found !== undefined) return;
  const known = await listWatermarks({ store }, { name: definition, max: listedMax });
  const names = known.map(({ name }) => name);
  const hint = names.length === 0 ? "the definition has none" : describeKnown(watermark, names);
  const expected = `the name of one of the definition's watermarks; ${hint}`;
  const problem = { field: "watermark", value: showValue(watermark), expected };
  throw invalidInput([problem], "TASKGATE_ARG_UNKNOWN");
}

/** Sets a watermark; makes no tasks. */
export async function setWatermark(
  { store, random }: Tools,
  request: WatermarkRequest & { definition: string; changedBy: string },
): Promise<WatermarkChange> {
  const { definition, operationId = asOperationId(random.uuid()), ...change } = request;
  const answer = await store.setWatermark({ ...change, name: definition, operationId });
  const { status, version, oldValue } = answer;
  return { definition, watermark: change.watermark, status, old: parse(oldValue), version };
}

function parse(value: string | null): JsonValue {
  return value === null ? null : (JSON.parse(value) as JsonValue);
}
