import type { JsonObject, JsonValue } from "../json";
import { checkFunction, wrongValue } from "../wrong-value";
import type { PlannedBlock } from "./planned-block";
import { isObject } from "../foreign-value";
import { itemsBehind, markAt } from "./watermark-value";

/** The request, added to the watermark's position. */
export interface ObjectRequest<Value extends JsonObject = JsonObject> {
  /** The objects behind a mark, in order; the mark of the last one that was made, null: all from the beginning. */
  readonly after: (mark: JsonValue) => Iterable<Value> | Promise<Iterable<Value>>;
  /** Where an object stands in the order: what `after` gets when it was the last one. Not null. */
  readonly markOf: (value: Value) => JsonValue;
}

/** A block for each object, which is its payload as it is. The watermark is `{ "mark": .. }`. */
export async function planObjectBlocks<Value extends JsonObject>(
  { after, markOf }: ObjectRequest<Value>,
  stands: JsonValue,
): Promise<Iterable<PlannedBlock>> {
  checkFunction("after", after);
  checkFunction("markOf", markOf);
  return objectBlocks(await itemsBehind(after, stands), markOf);
}

function* objectBlocks<Value extends JsonObject>(
  values: Iterable<Value>,
  markOf: (value: Value) => JsonValue,
): Generator<PlannedBlock> {
  for (const payload of values) {
    if (!isObject(payload)) throw wrongValue("after", "it to answer objects", payload);
    yield { payload, watermark: { mark: markAt(markOf, payload) }, isNew: true };
  }
}
