import type { JsonObject } from "../json";

/** A block to be made. */
export interface PlannedBlock {
  /** What its task carries: the range or the items. */
  readonly payload: JsonObject;
  /** Where the watermark stands when this is the last block of a call. */
  readonly watermark: JsonObject;
  /** It reaches beyond where the watermark stood; false: it lies in the overlap. */
  readonly isNew: boolean;
}
