import type { DateRequest } from "../../core/blocks/date-blocks";
import type { ListRequest } from "../../core/blocks/list-blocks";
import type { NumericRequest } from "../../core/blocks/numeric-blocks";
import type { ObjectRequest } from "../../core/blocks/object-blocks";
import type { TaskId } from "../../core/ids";
import type { JsonObject, JsonValue } from "../../core/json";
import type { StoreTransaction } from "../../ports/task-store";
import type { AnyTaskRef, EnqueueOptions } from "./task-ref";

/**
 * Blocks to make from where a watermark stands: exactly one of `numeric`, `dates`, `list`, `objects`. A block's task has the
 * block as its payload.
 */
export interface BlockRequest<
  Item extends JsonValue = JsonValue,
  Value extends JsonObject = JsonObject,
> extends Pick<EnqueueOptions, "priority" | "group" | "groupScope" | "runInMs" | "runAt"> {
  /** The watermark's name, 1..200 characters; unique in its queue. */
  watermark: string;
  numeric?: NumericRequest;
  dates?: DateRequest;
  list?: ListRequest<Item>;
  objects?: ObjectRequest<Value>;
  /** What every block's payload has besides: a table's name, a tenant. A block's own members win. */
  header?: JsonObject;
  /** Blocks per call, 1..10,000; default 10,000. The next call makes the rest. */
  maxBlocks?: number;
}

/** Where a watermark stands. */
export interface WatermarkPosition {
  /** As the last blocks left it: `{ "last": ".." }`, `{ "until": ".." }` or `{ "mark": .. }`; null: there is none. */
  readonly value: JsonValue;
  /** Grows with every change; "0": there never was one. */
  readonly version: string;
}

/** What a call made. */
export interface MadeBlocks extends WatermarkPosition {
  /** none: nothing new lies behind the watermark. conflict: others moved it again and again, and made the blocks. */
  readonly status: "advanced" | "none" | "conflict";
  /** In the order of the blocks. */
  readonly taskIds: readonly TaskId[];
  /** Not everything was made: call again. */
  readonly more: boolean;
}

/** Makes blocks behind watermarks: each once, for any number of callers, also after crashes. */
export interface WatermarkCalls {
  /**
   * Makes the blocks between the watermark and what the request names, and moves the watermark behind them, in one
   * transaction that is safe to repeat: at most 10,000 blocks and 4 MiB of payloads a call. Where another caller has moved it
   * meanwhile, it goes on from there. In a `transaction` of the caller's the blocks exist when it commits, and no hint is
   * left; until then other callers that move this watermark wait, 17 s at most. Throws InvalidArgumentError for ranges that
   * are none, and for a watermark of blocks of another kind. It throws it also for a block that the kind's schema refuses, or
   * whose dedupe key another task holds.
   */
  advance<Item extends JsonValue = JsonValue, Value extends JsonObject = JsonObject>(
    task: AnyTaskRef,
    request: BlockRequest<Item, Value>,
    options?: { transaction?: StoreTransaction },
  ): Promise<MadeBlocks>;
  /** Where a watermark of the task's queue stands. */
  read(task: AnyTaskRef, request: { watermark: string }): Promise<WatermarkPosition>;
}
