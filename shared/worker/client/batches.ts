import { createHash } from "node:crypto";
import { InvalidArgumentError } from "../../core/errors";
import type { BatchId, OperationId, TaskId, WaveId } from "../../core/ids";
import { asOperationId, isId } from "../../core/ids";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { checkInteger } from "../../core/text";
import { wrongValue } from "../../core/wrong-value";
import type { FailurePolicy, OpenedWaves } from "../../ports/task-store";
import type { BatchCalls, NewBatch } from "../define/batch-calls";
import { BatchPump } from "../run/batch-pump";
import { nameOf } from "../environment";
import type { WorkerEnvironment } from "../environment";

function waveOf(waves: readonly WaveId[], ordinal: number): WaveId {
  const wave = waves[ordinal - 1];
  if (wave !== undefined) return wave;
  throw new InvalidArgumentError(
    `Expected \`wave\` to be 1..${String(waves.length)}, got \`${String(ordinal)}\``,
    { details: { field: "wave", ordinal } },
  );
}

function batchOf(batchId: string): BatchId {
  if (isId(batchId)) return batchId as BatchId;
  throw wrongValue("batchId", "an id in decimal digits", batchId);
}

/** The same for the same text, in the form of a UUID whose bits are one's own (version 8 of RFC 9562). */
function operationOf(text: string): OperationId {
  const hex = createHash("sha256").update(text).digest("hex");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return asOperationId([...parts, hex.slice(20, 32)].join("-"));
}

/** For opening a wave beside other work; the rest is the sweep's. */
const pumpMs = 30_000;

/** Batches as `BatchCalls` describes them. */
export class BatchClient implements BatchCalls {
  readonly #environment: WorkerEnvironment;
  readonly #maker: TaskId | null;

  /** `maker`: the task whose batches these are; null: they are made outside of tasks. */
  constructor(environment: WorkerEnvironment, maker: TaskId | null = null) {
    this.#environment = environment;
    this.#maker = maker;
  }

  /** As `BatchCalls` says. */
  async create(input: {
    name: string;
    waves: number;
    failurePolicy?: FailurePolicy;
  }): Promise<NewBatch> {
    checkNames("batches.create", input, ["name", "waves", "failurePolicy"]);
    checkInteger("waves", input.waves, { min: 1, max: limits.wavesMax });
    const { store, random } = this.#environment;
    const operationId =
      this.#maker === null
        ? asOperationId(random.uuid())
        : operationOf(`batch of task ${this.#maker}: ${input.name}`);
    const answer = await store.createBatch({ failurePolicy: "halt", ...input, operationId });
    const { batchId, waveIds: waves } = answer;
    return { batchId, waves, wave: (ordinal) => waveOf(waves, ordinal) };
  }

  /** As `BatchCalls` says. */
  async start(
    batchId: string,
    options: { seal?: boolean } = {},
  ): Promise<"started" | "again" | "busy" | "ended"> {
    checkNames("batches.start", options, ["seal"]);
    const { seal = true } = options;
    if (typeof seal !== "boolean") throw wrongValue("seal", "true or false", seal);
    const answer = await this.#environment.store.startBatch({ batchId: batchOf(batchId), seal });
    await openWaves(this.#environment, answer);
    return answer.status;
  }

  /** As `BatchCalls` says. */
  async resume(batchId: string): Promise<"resumed" | "again" | "draft" | "ended"> {
    const answer = await this.#environment.store.resumeBatch({
      batchId: batchOf(batchId),
      changedBy: nameOf(this.#environment),
    });
    await openWaves(this.#environment, answer);
    return answer.status;
  }
}

/** Hints for definitions that got tasks, and opens waves that the call has begun to open. */
export async function openWaves(
  environment: WorkerEnvironment,
  { woken, opening }: OpenedWaves,
): Promise<void> {
  const { clock, wakeUp } = environment;
  for (const definition of woken) void wakeUp.hint(definition);
  const pump = new BatchPump(environment, clock.monotonicMs() + pumpMs);
  pump.open(opening);
  await pump.settled();
}
