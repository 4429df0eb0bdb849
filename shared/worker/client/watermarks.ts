import type { TakenBlocks } from "../../core/blocks/take-blocks";
import { asOperationId } from "../../core/ids";
import type { JsonObject, JsonValue } from "../../core/json";
import { checkNames } from "../../core/known-names";
import { checkKey } from "../../core/text";
import type { NewTask, StoreTransaction } from "../../ports/task-store";
import type { AdvanceWatermarkAnswer } from "../../ports/task-store";
import { requestNames, toBlockJob } from "./block-request";
import type {
  BlockRequest,
  MadeBlocks,
  WatermarkCalls,
  WatermarkPosition,
} from "../define/block-options";
import type { BlockJob } from "./block-request";
import type { WorkerEnvironment } from "../environment";
import { hintEnqueued } from "../../enqueue/hint-enqueued";
import { givenTransaction } from "./given-transaction";
import { prepareTask } from "./new-task";
import { ensureRegistered } from "./register";
import type { Registry } from "../define/registry";
import { toRequest } from "../define/task-ref";
import type { AnyTaskRef } from "../define/task-ref";

/** How often others may move the watermark before a call gives up. Each such move was progress of another call. */
const roundsMax = 20;

/** No watermark ever has this version: who expects it is told where it stands, and keeps it locked. */
const noVersion = String(2n ** 63n - 1n);
const nothing: TakenBlocks<NewTask> = { tasks: [], last: null, more: false };

/** Watermarks as `WatermarkCalls` describes them. */
export class Watermarks implements WatermarkCalls {
  readonly #environment: WorkerEnvironment;
  readonly #registry: Registry | null;

  /** `registry`: definitions that the database doesn't know yet are registered; null: a worker's are known. */
  constructor(environment: WorkerEnvironment, registry: Registry | null) {
    this.#environment = environment;
    this.#registry = registry;
  }

  /** As `WatermarkCalls` says. */
  async advance<Item extends JsonValue = JsonValue, Value extends JsonObject = JsonObject>(
    task: AnyTaskRef,
    request: BlockRequest<Item, Value>,
    options: { transaction?: StoreTransaction } = {},
  ): Promise<MadeBlocks> {
    checkNames("watermark.advance's options", options, ["transaction"]);
    const within = givenTransaction(options);
    const trace = this.#environment.telemetry.currentTraceParent();
    const job = toBlockJob(task, request, { trace, registry: this.#registry });
    const { definition } = job;
    const about = { registry: this.#registry, definition, isWithin: within !== undefined };
    return ensureRegistered(this.#environment, about, () => this.#make(job, within));
  }

  /** As `WatermarkCalls` says. */
  async read(task: AnyTaskRef, given: { watermark: string }): Promise<WatermarkPosition> {
    // The request of `advance` names the watermark, too.
    checkNames("watermark.read", given, requestNames);
    const { watermark } = given;
    checkKey("watermark", watermark);
    const request = toRequest({ task, payload: null, options: undefined });
    const { definition } = prepareTask(request, null, this.#registry);
    const about = { registry: this.#registry, definition, isWithin: false };
    return ensureRegistered(this.#environment, about, () => this.#read({ definition, watermark }));
  }

  async #read({ definition, watermark }: Omit<BlockJob, "take">): Promise<WatermarkPosition> {
    const { store } = this.#environment;
    const { watermarks } = await store.listWatermarks({ name: definition, watermark, max: 1 });
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
    const { store, random, telemetry, build } = this.#environment;
    const answer = await store.advanceWatermark(
      {
        name: definition,
        watermark,
        expectedVersion: version,
        value: JSON.stringify(taken.last?.watermark ?? {}),
        build,
        tasks: taken.tasks,
        operationId: within === undefined ? asOperationId(random.uuid()) : null,
        needsAll: true,
      },
      within,
    );
    if (answer.status === "conflict") return answer;
    hintEnqueued(this.#environment, definition, { ...answer, within });
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
