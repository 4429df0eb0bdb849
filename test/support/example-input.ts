import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { BatchId, ExecutionId, Fence, TaskId, WaveId } from "../../shared/core/ids";
import type { TaskStore } from "../../shared/ports/task-store";
import { operations } from "../../shared/store/operations";
import type { OperationName, StoreOperations } from "../../shared/store/operations";
import type { InputOf, Operation, ParameterType } from "../../shared/store/operations/operation";
import { define, enqueue, only, operationId, startWorker } from "./builders";

/*
 * An input for any operation: by it, lists of tests that need a call of each operation have one of an operation that they
 * don't name. Each parameter has an example by its name, else by its type. Where an operation needs another one, its contract
 * file exports it as `examples`.
 */

/** Rows that an example may name. */
export interface ExampleRows {
  readonly name: string;
  readonly executionId: ExecutionId;
  /** It runs. */
  readonly taskId: TaskId;
  readonly fence: Fence;
  readonly batchId: BatchId;
  readonly waveId: WaveId;
}

/** By operation: fields of its input that are unlike those that names and types give. */
export type Examples = {
  readonly [Name in OperationName]?: Partial<InputOf<StoreOperations[Name]>>;
};

/** A running task of a new definition, its execution and a batch of one wave. */
export async function makeExampleRows(store: TaskStore, name?: string): Promise<ExampleRows> {
  const defined = await define(store, { limit: 3 }, name);
  await enqueue(store, defined, 2);
  const worker = await startWorker(store, defined);
  const { taskId, fence } = await worker.claimOne();
  const batch = { operationId: operationId(), name: "example", failurePolicy: "halt" } as const;
  const { batchId, waveIds } = await store.createBatch({ ...batch, waves: 1 });
  const waveId = only([...waveIds]);
  return { name: defined, executionId: worker.executionId, taskId, fence, batchId, waveId };
}

/** Makes the example's call. */
export function callExample(
  store: TaskStore,
  operation: OperationName,
  rows: ExampleRows,
): Promise<unknown> {
  const call = store[operation].bind(store) as (input: unknown) => Promise<unknown>;
  return call(exampleInput(operation, rows));
}

/** The input; what is left to the code, or compared with an earlier answer, is left out. */
export function exampleInput(name: OperationName, rows: ExampleRows): object {
  const { parameters }: Pick<Operation<unknown, unknown>, "parameters"> = operations[name];
  const values = parameters
    .filter(([parameter]) => !/^(?:expected|after|before|since|startId)/.test(parameter))
    .map(([parameter, type]) => [parameter, exampleOf(parameter, type, rows)] as const);
  const { executionId } = rows;
  return { ...Object.fromEntries(values), executionId, ...ownExamples()[name] };
}

function exampleOf(parameter: string, type: ParameterType, rows: ExampleRows): unknown {
  if (parameter in rows) return rows[parameter as keyof ExampleRows];
  if (parameter === "max") return 10;
  return byType(rows)[type]();
}

function byType({ taskId }: ExampleRows): Readonly<Record<ParameterType, () => unknown>> {
  return {
    int: () => 1,
    smallint: () => 1,
    bigint: () => "1",
    boolean: () => true,
    uuid: () => operationId(),
    start: () => operationId(),
    text: () => "example",
    text64: () => "example",
    instant: () => new Date("2030-01-01T00:00:00Z"),
    json: () => ({}),
    ids: () => [taskId],
    ints: () => [1],
  };
}

let own: Examples | undefined;

/** Only contract files that export examples are loaded: outside jest its functions must be there by then. */
function ownExamples(): Examples {
  if (own !== undefined) return own;
  const folder = join(__dirname, "../contract");
  const load = createRequire(__filename);
  const files = readdirSync(folder).filter(
    (file) =>
      file.endsWith(".contract.ts") &&
      /^export const examples\b/m.test(readFileSync(join(folder, file), "utf8")),
  );
  const found = files.map((file) => (load(join(folder, file)) as { examples: Examples }).examples);
  own = Object.assign({}, ...found) as Examples;
  return own;
}
