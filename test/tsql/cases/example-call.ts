import type { BatchId, ExecutionId, Fence, TaskId, WaveId } from "../../../shared/core/ids";
import { operations } from "../../../shared/store/operations";
import type { OperationName } from "../../../shared/store/operations";
import { toPascalCase } from "../../../shared/store/operations/operation";
import type {
  Operation,
  ParameterType,
  ParameterValue,
} from "../../../shared/store/operations/operation";
import { exampleInput } from "../../support/example-input";
import type { ArgumentValue, ProcedureCall } from "./calls";

/** A call of an operation that has none of its own here: the first task of definition `name`, which the first execution runs. */
export function exampleCall(operation: OperationName, name: string): ProcedureCall {
  const { parameters, check, bind } = operations[operation] as Operation<unknown, unknown>;
  const first = "1";
  const values = bind(
    check(
      exampleInput(operation, {
        name,
        executionId: first as ExecutionId,
        taskId: first as TaskId,
        fence: first as Fence,
        batchId: first as BatchId,
        waveId: first as WaveId,
      }),
    ),
    false,
  );
  return {
    kind: "procedure",
    name: toPascalCase(operation),
    arguments: Object.fromEntries(
      parameters.map(([parameter, type]) => [
        toPascalCase(parameter),
        toArgument(type, values[parameter] ?? null),
      ]),
    ),
  };
}

function toArgument(type: ParameterType, value: ParameterValue): ArgumentValue {
  if (value === null) return null;
  if (typeof value === "object") return JSON.stringify(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  return type === "bigint" ? BigInt(value) : value;
}
