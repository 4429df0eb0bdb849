import type { Actor, AdminOptions, OfDefinition } from "../admin-options";
import { withKnownNames } from "../known-definitions";
import { listWatermarks, setWatermark } from "../watermark-actions";
import type { WatermarkChange, WatermarkReport } from "../watermark-actions";
import type { ListWatermarksRequest, WatermarkRequest } from "../watermark-requests";

/** Calls about watermarks. */
export interface WatermarkCalls {
  /** How far blocks have been made. */
  watermarks(request: ListWatermarksRequest): Promise<WatermarkReport[]>;
  /** Sets a watermark, unless its version is another than the expected one. Makes no tasks. */
  setWatermark(request: WatermarkRequest & Actor & OfDefinition): Promise<WatermarkChange>;
}

/** The calls about watermarks. */
export function watermarkCalls(options: AdminOptions): WatermarkCalls {
  const { store } = options;
  return {
    watermarks: (request) =>
      withKnownNames(store, request.name ?? "", () => listWatermarks(options, request)),
    setWatermark: (request) =>
      withKnownNames(store, request.definition, () => setWatermark(options, request)),
  };
}
