import type { JsonArray, JsonValue } from "../json";
import { checkInteger } from "../text";
import { checkFunction } from "../wrong-value";
import type { PlannedBlock } from "./planned-block";
import { itemsBehind, markAt } from "./watermark-value";

/** Some items of a list, in its order. */
export type ListBlock<Item extends JsonValue = JsonValue> = { items: Item[] };

const sizeRange = { min: 1, max: 10_000 } as const;

/** Cuts a list into blocks of `maxItems`, in order, each item once; the last one has the rest. No items: none. */
export function listBlocks<Item extends JsonValue>(
  items: Iterable<Item>,
  maxItems: number,
): Iterable<ListBlock<Item>> {
  checkInteger("maxItems", maxItems, sizeRange);
  return cut(items, maxItems);
}

function* cut<Item extends JsonValue>(
  items: Iterable<Item>,
  maxItems: number,
): Generator<ListBlock<Item>> {
  let block: Item[] = [];
  for (const item of items) {
    block.push(item);
    if (block.length < maxItems) continue;
    yield { items: block };
    block = [];
  }
  if (block.length > 0) yield { items: block };
}

/** The request, added to the watermark's position. */
export interface ListRequest<Item extends JsonValue = JsonValue> {
  /** The items behind a mark, in order; the mark of the last item that was made, null: all from the beginning. */
  readonly after: (mark: JsonValue) => Iterable<Item> | Promise<Iterable<Item>>;
  /** Where an item stands in the order: what `after` gets when it was the last one. Not null. */
  readonly markOf: (item: Item) => JsonValue;
  /** Items per block, 1..10,000. */
  readonly maxItems: number;
}

/** Blocks of the items behind the mark. The watermark is `{ "mark": .. }`, of the last item of the last block. */
export async function planListBlocks<Item extends JsonValue>(
  { after, markOf, maxItems }: ListRequest<Item>,
  stands: JsonValue,
): Promise<Iterable<PlannedBlock>> {
  checkInteger("maxItems", maxItems, sizeRange);
  checkFunction("after", after);
  checkFunction("markOf", markOf);
  return plan(cut(await itemsBehind(after, stands), maxItems), markOf);
}

function* plan<Item extends JsonValue>(
  blocks: Iterable<ListBlock<Item>>,
  markOf: (item: Item) => JsonValue,
): Generator<PlannedBlock> {
  for (const { items } of blocks) {
    const payload: { items: JsonArray } = { items };
    for (const last of items.slice(-1))
      yield { payload, watermark: { mark: markAt(markOf, last) }, isNew: true };
  }
}
