import { joinSignals } from "../core/join-signals";
import type { JoinedSignal } from "../core/join-signals";
import { TaskClient } from "../worker/client/client";
import type { TaskRequest } from "../worker/define/task-ref";
import type { InvocationWork } from "../worker/run/invocation-work";
import type { AppProcess, Runtime } from "./runtime";

/** The time in which an invocation of `ingest` begins tasks: its place among the host's invocations is for events. */
const worksForMs = 5_000;
/** So many invocations of `ingest` work at the same time in one process; further ones leave hints. */
const workingMax = 4;

/** Invocations of `ingest` that work just now. */
let working = 0;

/** What one invocation of `ingest` enqueues, and works on. */
export class IngestWork {
  readonly #app: Pick<AppProcess, "tracked">;
  #work: InvocationWork | null = null;
  #ending: JoinedSignal | null = null;
  #isCounted = false;

  constructor(app: Pick<AppProcess, "tracked">) {
    this.#app = app;
  }

  /** Adds tasks; those that are ready begin here. Throws what enqueueing throws. */
  async enqueue(requests: readonly TaskRequest[]): Promise<void> {
    await this.#app.tracked((runtime) => this.#clientOf(runtime).enqueueAll(requests));
  }

  /** Resolves when no task of this invocation runs any more. Never rejects. */
  async settled(): Promise<void> {
    await this.#work?.settled();
    this.#ending?.leave();
    if (this.#isCounted) working -= 1;
    this.#isCounted = false;
  }

  #clientOf(runtime: Runtime): TaskClient {
    if (this.#work === null && working >= workingMax) return runtime.client;
    this.#work ??= this.#open(runtime);
    return new TaskClient(this.#work.environment, runtime.registry);
  }

  #open(runtime: Runtime): InvocationWork {
    working += 1;
    this.#isCounted = true;
    const bounds = runtime.bounds();
    const { draining } = bounds;
    const ending = [AbortSignal.timeout(worksForMs), ...(draining === undefined ? [] : [draining])];
    this.#ending = joinSignals(...ending);
    return runtime.work({ ...bounds, draining: this.#ending.signal });
  }
}
