import type * as port from "../ports/watermarks";
import { json, status, text, textOrNull } from "./columns";
import { enqueued } from "./answers";
import type { AnswerRow } from "./operations";

/** advance_watermark */
export function advanceWatermark(row: AnswerRow): port.AdvanceWatermarkAnswer {
  return {
    status: status(row, ["advanced", "conflict"]),
    version: text(row, "version"),
    value: textOrNull(row, "value"),
    ...enqueued(row),
  };
}

/** set_watermark */
export function setWatermark(row: AnswerRow): port.SetWatermarkAnswer {
  return {
    status: status(row, ["set", "conflict"]),
    version: text(row, "version"),
    oldValue: textOrNull(row, "oldValue"),
  };
}

/** list_watermarks */
export function listWatermarks(row: AnswerRow): { watermarks: port.WatermarkStatus[] } {
  return { watermarks: json<port.WatermarkStatus[]>(row, "watermarks") };
}
