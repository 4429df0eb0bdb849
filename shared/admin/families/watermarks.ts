import type { Actor, AdminOptions, OfDefinition } from "../admin-options";
import { withKnownNames } from "../known-definitions";
import { listWatermarks, requireWatermark, setWatermark } from "../watermark-actions";
import type { WatermarkChange, WatermarkReport } from "../watermark-actions";
import type { ListWatermarksRequest, WatermarkRequest } from "../watermark-requests";

/** Calls about watermarks. */
export interface WatermarkCalls {
  /** How far blocks have been made. */
  watermarks(request: ListWatermarksRequest): Promise<WatermarkReport[]>;
  /** Sets a watermark, unless its version is another than the expected one. Makes no tasks. One that isn't there can't be cleared. */
  setWatermark(request: WatermarkRequest & Actor & OfDefinition): Promise<WatermarkChange>;
}

/** The calls about watermarks. */
export function watermarkCalls(options: AdminOptions): WatermarkCalls {
  const { store } = options;
  return {
    watermarks: (request) =>
      withKnownNames(store, request.name ?? "", () => listWatermarks(options, request)),
    setWatermark: async (request) => {
      // To clear one that isn't there would be a slip of the hand; to set it makes it.
      if (request.value === null) await requireWatermark(options, request);
      return withKnownNames(store, request.definition, () => setWatermark(options, request));
    },
  };
}
