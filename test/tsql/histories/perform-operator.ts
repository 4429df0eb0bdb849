import type * as batches from "../../../shared/ports/task-store";
import type * as port from "../../../shared/ports/task-store";
import type { Call } from "./call";
import { operationIdOf } from "./names";
import type { OperatorAction } from "./operator-call";
import type { Side } from "./side";

/** Answers of what operators do. */
export interface OperatorAnswers {
  cancel: port.CancelTasksAnswer;
  redrive: port.RedriveTasksAnswer;
  redriveFound: port.RedriveTasksAnswer;
  reschedule: port.RescheduleTasksAnswer;
  setGroup: port.SetGroupAnswer;
  listGroups: { groups: port.GroupStatus[] };
  setRate: port.SetRateAnswer;
  purge: port.PurgeAnswer;
  createBatch: batches.CreateBatchAnswer;
  startBatch: batches.StartBatchAnswer;
  pumpBatch: batches.PumpBatchAnswer;
  resumeBatch: batches.ResumeBatchAnswer;
  cancelBatch: batches.CancelBatchAnswer;
  listBatches: { batches: batches.BatchStatus[] };
}

type OperatorCall = Extract<Call, { do: OperatorAction["do"] }>;

const changedBy = "an operator";

/** Makes the call. */
export async function performOperator(
  side: Side,
  call: OperatorCall,
): Promise<OperatorAnswers[OperatorAction["do"]]> {
  const { store } = side;
  const tasksOf = (names: readonly string[]) => names.map((name) => side.task(name));
  switch (call.do) {
    case "cancel":
      return store.cancelTasks({ taskIds: tasksOf(call.tasks), reason: "not wanted" });
    case "redrive":
      return store.redriveTasks({ taskIds: tasksOf(call.tasks) });
    case "redriveFound": {
      const { definition: name, outcome, max } = call;
      return store.redriveTasks({ name, outcome, max });
    }
    case "reschedule": {
      const { runInMs } = call;
      return store.rescheduleTasks({ taskIds: tasksOf(call.tasks), to: { runInMs } });
    }
    case "setGroup": {
      const { definition: name, group: groupKey, scope: groupScope, slots, paused, strict } = call;
      return store.setGroup({
        ...{ name, groupKey, groupScope, changedBy },
        ...(slots === undefined ? {} : { slots }),
        ...(paused === undefined ? {} : { paused }),
        ...(strict === undefined ? {} : { strict }),
      });
    }
    case "listGroups":
      return store.listGroups({ max: 100 });
    case "setRate":
      return store.setRate({ name: call.definition, rate: call.rate, changedBy });
    case "purge":
      return store.purge({ max: call.max });
    default:
      return performOnBatch(side, call);
  }
}

async function performOnBatch(
  side: Side,
  call: Extract<OperatorCall, { do: `${string}Batch` | "listBatches" }>,
) {
  const { store } = side;
  switch (call.do) {
    case "createBatch": {
      const { operation, waves, failurePolicy } = call;
      const operationId = operationIdOf(operation);
      const answer = await store.createBatch({
        operationId,
        name: "nightly",
        failurePolicy,
        waves,
      });
      side.names.bind("batch", `b${call.id}`, answer.batchId);
      for (const [index, waveId] of answer.waveIds.entries()) {
        side.names.bind("wave", `w${call.id}.${String(index)}`, waveId);
      }
      return answer;
    }
    case "startBatch":
      return store.startBatch({ batchId: side.batch(call.batch), seal: call.seal });
    case "pumpBatch":
      return store.pumpBatch({ batchId: side.batch(call.batch), max: call.max });
    case "resumeBatch":
      return store.resumeBatch({ batchId: side.batch(call.batch) });
    case "cancelBatch":
      return store.cancelBatch({ batchId: side.batch(call.batch) });
    case "listBatches":
      return store.listBatches({ max: call.max });
  }
}
