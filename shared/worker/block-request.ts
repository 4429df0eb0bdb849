import { planDateBlocks } from "../core/blocks/date-blocks";
import type { DateRequest } from "../core/blocks/date-blocks";
import { planListBlocks } from "../core/blocks/list-blocks";
import type { ListRequest } from "../core/blocks/list-blocks";
import { planNumericBlocks } from "../core/blocks/numeric-blocks";
import type { NumericRequest } from "../core/blocks/numeric-blocks";
import { planObjectBlocks } from "../core/blocks/object-blocks";
import type { ObjectRequest } from "../core/blocks/object-blocks";
import type { PlannedBlock } from "../core/blocks/planned-block";
import { takeBlocks } from "../core/blocks/take-blocks";
import type { TakenBlocks } from "../core/blocks/take-blocks";
import { InvalidArgumentError } from "../core/errors";
import type { JsonObject, JsonValue } from "../core/json";
import { limits } from "../core/limits";
import { checkInteger } from "../core/text";
import type { NewTask } from "../ports/task-store";
import { bytesOf, callBytesMax } from "../enqueue/call-size";
import { prepareTask } from "./new-task";
import type { Registry } from "./registry";
import type { EnqueueRequest } from "./task-context";

/**
 * Blocks to make from where a watermark stands: exactly one of `numeric`, `dates`, `list`, `objects`. A block's task has the
 * block as its payload.
 */
export interface BlockRequest<
  Item extends JsonValue = JsonValue,
  Value extends JsonObject = JsonObject,
> extends Pick<
  EnqueueRequest,
  "definition" | "priority" | "group" | "groupScope" | "runInMs" | "runAt"
> {
  /** The watermark's name, 1..200 characters; unique in its definition. */
  watermark: string;
  numeric?: NumericRequest;
  dates?: DateRequest;
  list?: ListRequest<Item>;
  objects?: ObjectRequest<Value>;
  /** What every block's payload has besides: a table's name, a tenant. A block's own members win. */
  header?: JsonObject;
  /** Blocks per call, 1..10,000; default 10,000. What is left is made by the next call. */
  maxBlocks?: number;
}

/** A request that was checked: what a maker needs to know. */
export interface BlockJob {
  readonly definition: string;
  readonly watermark: string;
  /** The tasks of the first blocks behind the watermark that fit in one call. */
  take(stands: JsonValue): Promise<TakenBlocks<NewTask>>;
}

/** The four kinds, by the member of a request that asks for them. */
const kinds = ["numeric", "dates", "list", "objects"] as const;

/**
 * Throws InvalidArgumentError unless exactly one kind of blocks is asked for, and a number of them that one call may make.
 * What is asked of the blocks is checked by `take`.
 */
export function toBlockJob<Item extends JsonValue, Value extends JsonObject>(
  task: EnqueueRequest["task"],
  request: BlockRequest<Item, Value>,
  { trace, registry }: { trace: string | null; registry: Registry | null },
): BlockJob {
  const { watermark, maxBlocks, header, numeric, dates, list, objects, ...options } = request;
  checkKinds({ numeric, dates, list, objects });
  if (maxBlocks !== undefined)
    checkInteger("maxBlocks", maxBlocks, { min: 1, max: limits.enqueueTasksMax });
  return {
    definition: prepareTask({ task, ...options }, null, registry).definition,
    watermark,
    take: async (stands) =>
      takeBlocks(await planBlocks(request, stands), {
        maxBlocks: maxBlocks ?? limits.enqueueTasksMax,
        maxBytes: callBytesMax,
        bytesOf,
        prepare: ({ payload: block }) =>
          prepareTask({ task, ...options, payload: { ...header, ...block } }, trace, registry).task,
      }),
  };
}

function checkKinds(request: Record<(typeof kinds)[number], unknown>): void {
  const asked = kinds.filter((kind) => request[kind] !== undefined);
  if (asked.length !== 1) {
    throw new InvalidArgumentError(
      `blocks: expected exactly one of ${kinds.join(", ")} (${asked.join(", ") || "none"})`,
      { details: { field: "blocks" } },
    );
  }
}

/** The blocks behind a watermark, in order. */
async function planBlocks<Item extends JsonValue, Value extends JsonObject>(
  { numeric, dates, list, objects }: BlockRequest<Item, Value>,
  stands: JsonValue,
): Promise<Iterable<PlannedBlock>> {
  if (numeric !== undefined) return planNumericBlocks(numeric, stands);
  if (dates !== undefined) return planDateBlocks(dates, stands);
  if (list !== undefined) return planListBlocks(list, stands);
  return objects === undefined ? [] : planObjectBlocks(objects, stands);
}
