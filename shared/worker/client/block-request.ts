import { planDateBlocks } from "../../core/blocks/date-blocks";
import type { DateRequest } from "../../core/blocks/date-blocks";
import { planListBlocks } from "../../core/blocks/list-blocks";
import type { ListRequest } from "../../core/blocks/list-blocks";
import { planNumericBlocks } from "../../core/blocks/numeric-blocks";
import type { NumericRequest } from "../../core/blocks/numeric-blocks";
import { planObjectBlocks } from "../../core/blocks/object-blocks";
import type { ObjectRequest } from "../../core/blocks/object-blocks";
import type { PlannedBlock } from "../../core/blocks/planned-block";
import { takeBlocks } from "../../core/blocks/take-blocks";
import type { TakenBlocks } from "../../core/blocks/take-blocks";
import { isObject } from "../../core/foreign-value";
import { withPlaces } from "../../core/error-places";
import { InvalidArgumentError } from "../../core/errors";
import type { JsonObject, JsonValue } from "../../core/json";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { checkInteger, checkKey } from "../../core/text";
import { wrongValue } from "../../core/wrong-value";
import type { NewTask } from "../../ports/task-store";
import { bytesOf, callBytesMax } from "../../enqueue/call-size";
import type { BlockRequest } from "../define/block-options";
import { checkPayload } from "./check-payload";
import { checkerOf, prepareTask } from "./new-task";
import type { Registry } from "../define/registry";
import { toRequest } from "../define/task-ref";
import type { AnyTaskRef } from "../define/task-ref";

/** A request that was checked: what a maker needs to know. */
export interface BlockJob {
  readonly definition: string;
  readonly watermark: string;
  /** The tasks of the first blocks behind the watermark that fit in one call. */
  take(stands: JsonValue): Promise<TakenBlocks<NewTask>>;
}

/** The four kinds, by the member of a request that asks for them, with the names of their options. */
const kinds = {
  numeric: ["to", "size", "start", "overlap"] satisfies (keyof NumericRequest)[],
  dates: ["to", "spanMs", "start", "overlapMs"] satisfies (keyof DateRequest)[],
  list: ["after", "markOf", "maxItems"] satisfies (keyof ListRequest)[],
  objects: ["after", "markOf"] satisfies (keyof ObjectRequest)[],
} as const;
const kindNames = ["numeric", "dates", "list", "objects"] as const;

/** Names of a request's options. */
export const requestNames = [
  "watermark",
  ...kindNames,
  "header",
  "maxBlocks",
  "priority",
  "group",
  "groupScope",
  "runInMs",
  "runAt",
] as const satisfies readonly (keyof BlockRequest)[];

/**
 * Throws InvalidArgumentError for an unknown option, and unless exactly one kind of blocks is asked for, and a number of them
 * that one call may make. `take` checks the values of the blocks' options.
 */
export function toBlockJob<Item extends JsonValue, Value extends JsonObject>(
  task: AnyTaskRef,
  request: BlockRequest<Item, Value>,
  { trace, registry }: { trace: string | null; registry: Registry | null },
): BlockJob {
  checkNames("watermark.advance", request, requestNames);
  const { watermark, maxBlocks, header, numeric, dates, list, objects, ...options } = request;
  checkKey("watermark", watermark);
  checkKinds({ numeric, dates, list, objects });
  if (header !== undefined && !isObject(header)) throw wrongValue("header", "an object", header);
  if (maxBlocks !== undefined)
    checkInteger("maxBlocks", maxBlocks, { min: 1, max: limits.enqueueTasksMax });
  return {
    definition: prepareTask(toRequest({ task, payload: null, options }), null, registry).definition,
    watermark,
    take: async (stands) => {
      const taken = takeBlocks(await planBlocks(request, stands), {
        maxBlocks: maxBlocks ?? limits.enqueueTasksMax,
        maxBytes: callBytesMax,
        bytesOf,
        prepare: ({ payload: block }) => {
          const payload = { ...header, ...block };
          return prepareTask(toRequest({ task, payload, options }), trace, registry).task;
        },
      });
      const kind = checkerOf(task, registry);
      try {
        for (const { payload } of taken.tasks) await checkPayload(kind, payload);
      } catch (error) {
        throw withPlaces(error, (text) => `block's ${text}`);
      }
      return taken;
    },
  };
}

function checkKinds(request: Record<keyof typeof kinds, object | undefined>): void {
  const asked = kindNames.filter((kind) => request[kind] !== undefined);
  if (asked.length !== 1) {
    throw new InvalidArgumentError(
      `blocks: expected exactly one of ${kindNames.join(", ")} (${asked.join(", ") || "none"})`,
      { details: { field: "blocks" } },
    );
  }
  for (const kind of asked) checkNames(kind, request[kind] as object, kinds[kind]);
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
