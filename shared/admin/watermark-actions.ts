import { asOperationId } from "../core/ids";
import type { JsonValue } from "../core/json";
import { describeKnown } from "../core/near-name";
import type {
  ListWatermarksInput,
  SetWatermarkInput,
  TaskStore,
  WatermarkStatus,
} from "../ports/task-store";
import type { AdminOptions } from "./admin-options";
import type { OfDefinition, Repeatable } from "./admin-tools";
import { withKnownNames, withOwnNames } from "./known-definitions";
import type { Known } from "./known-definitions";
import { invalidInput, showValue } from "./read-result";

/** A near name is looked for among so many. */
const listedMax = 1_000;

/** A watermark as people see it. */
export interface WatermarkReport extends Omit<WatermarkStatus, "value"> {
  /** null: none; the next maker begins anew. */
  readonly value: JsonValue;
}

/** Calls about watermarks. */
export function watermarkCalls(options: Pick<AdminOptions, "store" | "random" | "makeKnown">) {
  const { store, random } = options;
  return {
    /** How far blocks have been made, by definition as registered, then name. */
    watermarks: (request: ListWatermarksInput) =>
      withKnownNames(options, request.name, () => listWatermarks(store, request)),
    /**
     * Sets a watermark, unless its version is another than the expected one: then the status is `conflict`, and the answer has the value and
     * version that stand there. Makes no tasks. One that isn't there can't be cleared.
     */
    setWatermark: ({
      definition,
      operationId = asOperationId(random.uuid()),
      ...change
    }: OfDefinition<Repeatable<SetWatermarkInput>>) =>
      withOwnNames(options, definition, async () => {
        const { watermark } = change;
        // To clear one that isn't there would be a slip of the hand; to set it makes it.
        if (change.value === null) await requireWatermark(options, { definition, watermark });
        const { status, version, oldValue } = await withKnownNames(options, definition, () =>
          store.setWatermark({ ...change, name: definition, operationId }),
        );
        return { definition, watermark, status, old: parse(oldValue), version };
      }),
  };
}

async function listWatermarks(
  store: TaskStore,
  request: ListWatermarksInput,
): Promise<WatermarkReport[]> {
  const { watermarks } = await store.listWatermarks(request);
  return watermarks.map(({ value, ...watermark }) => ({ ...watermark, value: parse(value) }));
}

/** Throws InvalidArgumentError (unknown), with near names, for a watermark that the definition doesn't have. */
async function requireWatermark(
  options: Known,
  { definition, watermark }: { definition: string; watermark: string },
): Promise<void> {
  const { store } = options;
  const [found] = await withKnownNames(options, definition, () =>
    listWatermarks(store, { name: definition, watermark, max: 1 }),
  );
  if (found !== undefined) return;
  const known = await listWatermarks(store, { name: definition, max: listedMax });
  const names = known.map(({ name }) => name);
  const hint = names.length === 0 ? "the definition has none" : describeKnown(watermark, names);
  const expected = `the name of one of the definition's watermarks; ${hint}`;
  const problem = { field: "watermark", value: showValue(watermark), expected };
  throw invalidInput([problem], "TASKGATE_ARG_UNKNOWN");
}

function parse(value: string | null): JsonValue {
  return value === null ? null : (JSON.parse(value) as JsonValue);
}
