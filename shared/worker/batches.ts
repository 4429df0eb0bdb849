import { createHash } from "node:crypto";
import { InvalidArgumentError } from "../core/errors";
import type { BatchId, OperationId, TaskId, WaveId } from "../core/ids";
import { asOperationId } from "../core/ids";
import type { FailurePolicy, OpenedWaves } from "../ports/batches";
import { BatchPump } from "./batch-pump";
import type { WorkerEnvironment } from "./environment";

/** A batch as its maker gets it. */
export interface NewBatch {
  readonly batchId: BatchId;
  /** In order. */
  readonly waves: readonly WaveId[];
  /** Wave 1, 2, 3 ..: for `enqueue({ wave })`. Throws InvalidArgumentError when there is none of that number. */
  wave(ordinal: number): WaveId;
}

function waveOf(waves: readonly WaveId[], ordinal: number): WaveId {
  const wave = waves[ordinal - 1];
  if (wave !== undefined) return wave;
  throw new InvalidArgumentError(
    `Expected \`wave\` to be 1..${String(waves.length)}, got \`${String(ordinal)}\``,
    { details: { field: "wave", ordinal } },
  );
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

/**
 * Batches of waves: `create`, fill the waves by `enqueue({ wave })`, `start`. From then on each wave begins when the last
 * task of the one before has ended.
 */
export class BatchClient {
  readonly #environment: WorkerEnvironment;
  readonly #maker: TaskId | null;

  /** `maker`: the task whose batches these are; null: they are made outside of tasks. */
  constructor(environment: WorkerEnvironment, maker: TaskId | null = null) {
    this.#environment = environment;
    this.#maker = maker;
  }

  /**
   * Makes empty waves, 1..1000. `failurePolicy`: what a dead task means for the waves after its own; default halt. Of a
   * task (`ctx.batches`) each name is one batch: a retry gets the one that was made, as long as answers for repeats are
   * kept. Elsewhere each call makes another.
   */
  async create(input: {
    name: string;
    waves: number;
    failurePolicy?: FailurePolicy;
  }): Promise<NewBatch> {
    const { store, random } = this.#environment;
    const operationId =
      this.#maker === null
        ? asOperationId(random.uuid())
        : operationOf(`batch of task ${this.#maker}: ${input.name}`);
    const answer = await store.createBatch({ failurePolicy: "halt", ...input, operationId });
    const { batchId, waveIds: waves } = answer;
    return { batchId, waves, wave: (ordinal) => waveOf(waves, ordinal) };
  }

  /**
   * Opens the first wave that has tasks. Resolves when all of its tasks may run. `seal: false`: waves that aren't open yet
   * still take tasks, for example from tasks of the wave before. `busy`: somebody is adding to the first wave, ask again.
   */
  async start(
    batchId: BatchId,
    options: { seal?: boolean } = {},
  ): Promise<"started" | "again" | "busy" | "ended"> {
    const answer = await this.#environment.store.startBatch({
      batchId,
      seal: options.seal ?? true,
    });
    await this.#follow(answer);
    return answer.status;
  }

  /** Lets a halted batch go on with its next wave. */
  async resume(batchId: BatchId): Promise<"resumed" | "again" | "draft" | "ended"> {
    const answer = await this.#environment.store.resumeBatch({ batchId });
    await this.#follow(answer);
    return answer.status;
  }

  async #follow({ woken, opening }: OpenedWaves): Promise<void> {
    const { clock, wakeUp } = this.#environment;
    for (const definition of woken) void wakeUp.hint(definition);
    const pump = new BatchPump(this.#environment, clock.monotonicMs() + pumpMs);
    pump.open(opening);
    await pump.settled();
  }
}
