import type { TakenBlocks } from "../core/blocks/take-blocks";
import { asOperationId } from "../core/ids";
import type { TaskId } from "../core/ids";
import type { JsonObject, JsonValue } from "../core/json";
import type { NewTask, StoreTransaction } from "../ports/task-store";
import type { AdvanceWatermarkAnswer } from "../ports/watermarks";
import { toBlockJob } from "./block-request";
import type { BlockJob, BlockRequest } from "./block-request";
import type { WorkerEnvironment } from "./environment";
import { hintEnqueued } from "../enqueue/hint-enqueued";
import { prepareTask } from "./new-task";
import { askKnown } from "./register";
import type { Registry } from "./registry";
import type { EnqueueRequest } from "./task-context";

/** Where a watermark stands. */
export interface WatermarkPosition {
  /** As the last blocks left it: `{ "last": ".." }`, `{ "until": ".." }` or `{ "mark": .. }`; null: there is none. */
  readonly value: JsonValue;
  /** Grows with every change; "0": there never was one. */
  readonly version: string;
}

/** What a call made. */
export interface MadeBlocks extends WatermarkPosition {
  /** none: nothing new lies behind the watermark. conflict: others moved it again and again, and made the blocks. */
  readonly status: "advanced" | "none" | "conflict";
  /** In the order of the blocks. */
  readonly taskIds: readonly TaskId[];
  /** Not everything was made: call again. */
  readonly more: boolean;
}

/** How often others may move the watermark before a call gives up. Each time was somebody's progress. */
const roundsMax = 20;

/** No watermark ever has this version: who expects it is told where it stands, and keeps it locked. */
const noVersion = String(2n ** 63n - 1n);
const nothing: TakenBlocks<NewTask> = { tasks: [], last: null, more: false };

/** Makes blocks behind watermarks: each once, however many make them, and whatever crashes. */
export class Watermarks {
  readonly #environment: WorkerEnvironment;
  readonly #registry: Registry | null;

  /** `registry`: definitions that the database doesn't know yet are registered; null: a worker's are known. */
  constructor(environment: WorkerEnvironment, registry: Registry | null) {
    this.#environment = environment;
    this.#registry = registry;
  }

  /**
   * Makes the blocks between the watermark and what the request names, and moves the watermark behind them, in one
   * transaction that is safe to repeat: at most 10,000 blocks and 4 MiB of payloads a call. Where somebody else has moved it
   * meanwhile, it goes on from there. `within` a user's transaction: the blocks exist when it commits, and no hint is left;
   * until then others who move this watermark wait, up to 2 s. Throws InvalidArgumentError for ranges that are none, and
   * for a watermark of blocks of another kind.
   */
  async advance<Item extends JsonValue = JsonValue, Value extends JsonObject = JsonObject>(
    task: EnqueueRequest["task"],
    request: BlockRequest<Item, Value>,
    within?: StoreTransaction,
  ): Promise<MadeBlocks> {
    const trace = this.#environment.telemetry.currentTraceParent();
    const job = toBlockJob(task, request, { trace, registry: this.#registry });
    const { definition } = job;
    const about = { registry: this.#registry, definition, isWithin: within !== undefined };
    return askKnown(this.#environment, about, () => this.#make(job, within));
  }

  /** Where a watermark of the task's definition stands. */
  async read(
    task: EnqueueRequest["task"],
    { watermark, ...names }: { watermark: string; definition?: string },
  ): Promise<WatermarkPosition> {
    const { definition } = prepareTask({ task, ...names }, null, this.#registry);
    const about = { registry: this.#registry, definition, isWithin: false };
    return askKnown(this.#environment, about, () => this.#read({ definition, watermark }));
  }

  async #read({ definition, watermark }: Omit<BlockJob, "take">): Promise<WatermarkPosition> {
    const { store } = this.#environment;
    const { watermarks } = await store.listWatermarks({ name: definition, watermark, most: 1 });
    const [found] = watermarks;
    return found === undefined ? { value: null, version: "0" } : positionOf(found);
  }

  async #make(job: BlockJob, within: StoreTransaction | undefined): Promise<MadeBlocks> {
    const move = (version: string, taken: TakenBlocks<NewTask>) =>
      this.#move(job, { version, taken }, within);
    let stands =
      within === undefined ? await this.#read(job) : positionOf(await move(noVersion, nothing));
    for (let round = 0; round < roundsMax; round += 1) {
      const taken = await job.take(stands.value);
      if (taken.last === null) return { status: "none", ...stands, taskIds: [], more: false };
      const answer = await move(stands.version, taken);
      if (answer.status === "advanced") {
        const { version, taskIds } = answer;
        const { last, more } = taken;
        return { status: "advanced", value: last.watermark, version, taskIds, more };
      }
      stands = positionOf(answer);
    }
    return { status: "conflict", ...stands, taskIds: [], more: true };
  }

  async #move(
    { definition, watermark }: BlockJob,
    { version, taken }: { version: string; taken: TakenBlocks<NewTask> },
    within: StoreTransaction | undefined,
  ): Promise<AdvanceWatermarkAnswer> {
    const { store, random, telemetry, build, wakeUp } = this.#environment;
    const answer = await store.advanceWatermark(
      {
        name: definition,
        watermark,
        expectedVersion: version,
        value: JSON.stringify(taken.last?.watermark ?? {}),
        build,
        tasks: taken.tasks,
        operationId: within === undefined ? asOperationId(random.uuid()) : null,
      },
      within,
    );
    if (answer.status === "conflict") return answer;
    if (within === undefined) hintEnqueued(wakeUp, definition, answer);
    telemetry.count("taskgate.task.enqueued", answer.taskIds.length);
    return answer;
  }
}

function positionOf({
  value,
  version,
}: {
  value: string | null;
  version: string;
}): WatermarkPosition {
  return { value: value === null ? null : (JSON.parse(value) as JsonValue), version };
}
