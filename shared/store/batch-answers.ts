import { asBatchId, asWaveId } from "../core/ids";
import type * as port from "../ports/batches";
import { batchIds, bool, int, json, names, status, text } from "./columns";
import type { AnswerRow } from "./operations";

/** create_batch */
export function createBatch(row: AnswerRow): port.CreateBatchAnswer {
  return {
    status: status(row, ["created"]),
    batchId: asBatchId(text(row, "batch")),
    waveIds: json<string[]>(row, "waves").map(asWaveId),
  };
}

/** start_batch */
export function startBatch(row: AnswerRow): port.StartBatchAnswer {
  return { status: status(row, ["started", "again", "busy", "ended"]), ...openedWaves(row) };
}

/** pump_batch */
export function pumpBatch(row: AnswerRow): port.PumpBatchAnswer {
  return {
    status: status(row, ["pumped", "busy", "done"]),
    moved: int(row, "moved"),
    more: bool(row, "more"),
    woken: names(row, "woken"),
  };
}

/** resume_batch */
export function resumeBatch(row: AnswerRow): port.ResumeBatchAnswer {
  return { status: status(row, ["resumed", "again", "draft", "ended"]), ...openedWaves(row) };
}

/** cancel_batch */
export function cancelBatch(row: AnswerRow): port.CancelBatchAnswer {
  return {
    status: status(row, ["cancelled", "again", "done"]),
    tasks: names(row, "tasks"),
    opening: batchIds(row, "opening"),
  };
}

/** list_batches */
export function listBatches(row: AnswerRow): { batches: port.BatchStatus[] } {
  return { batches: json<port.BatchStatus[]>(row, "batches") };
}

function openedWaves(row: AnswerRow): port.OpenedWaves {
  return { woken: names(row, "woken"), opening: batchIds(row, "opening") };
}
