import { createClient } from "../../shared/client/create-client";
import type { Client } from "../../shared/client/create-client";
import { asTaskId } from "../../shared/core/ids";
import { messageOf } from "../../shared/core/foreign-value";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import type { TaskKind } from "../../shared/worker/define/task-kind";
import type { Dice } from "../support/dice";
import { waveTag } from "./judge-order";
import type { WriteEntry } from "./ledger";
import { groups, kinds, kindsOf, waves } from "./plan";
import type { KindName, Scale, SoakPayload } from "./plan";

const tickMs = 200;
/** A second event with a known key comes within this time; the key is held for longer. */
const keysKept = 200;
const keyMs = 600_000;

export interface FeederPlace {
  /** As the workers' login. */
  readonly url: string;
  /** As an operator. */
  readonly operator: TaskStore;
  readonly scale: Scale;
  readonly build: number;
  readonly dice: Dice;
  readonly write: WriteEntry;
}

/** Enqueues the load at its rate: as code outside of the app does, with one client. */
export class Feeder {
  readonly counts = { calls: 0, failed: 0, secondEvents: 0 };
  readonly #place: FeederPlace;
  readonly #client: Client;
  readonly #kinds: ReadonlyMap<string, TaskKind<SoakPayload, unknown>>;
  readonly #events: { key: string; task: string }[] = [];
  readonly #dead = new Map<string, number>();
  readonly #shares: Readonly<Record<KindName, number>>;
  #wavedDue = 0;
  #due = 0;
  #lastError: string | null = null;

  constructor(place: FeederPlace) {
    this.#place = place;
    const list = kindsOf(place.scale, place.build, async () => undefined);
    this.#kinds = new Map(list.map((kind) => [kind.kind, kind]));
    this.#client = createClient({ store: place.url, tasks: list });
    this.#shares = Object.fromEntries(
      Object.entries(kinds).map(([name, { share }]) => [name, share]),
    ) as Record<KindName, number>;
  }

  get lastError(): string | null {
    return this.#lastError;
  }

  /** A dead letter, which is redriven when its time has come. */
  noteDead(task: string): void {
    this.#dead.set(task, Date.now() + this.#place.scale.doomedMs + 500);
  }

  /** Feeds until `signal` is aborted, then ends what is under way. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#startDrafts();
    let lastMs = Date.now();
    while (!signal.aborted) {
      const nowMs = Date.now();
      // What a busy computer has missed is not made up for: the load is bounded.
      this.#due += (Math.min(nowMs - lastMs, 2 * tickMs) * this.#place.scale.rate) / 1_000;
      lastMs = nowMs;
      const count = Math.floor(this.#due);
      this.#due -= count;
      await this.#tick(count);
      await this.redrive();
      await sleep(Math.max(0, tickMs - (Date.now() - nowMs)), signal).catch(() => undefined);
    }
  }

  /** Redrives dead letters whose time has come; answers how many still wait for theirs. */
  async redrive(): Promise<number> {
    const { operator, write } = this.#place;
    const atMs = Date.now();
    const due = [...this.#dead].filter(([, dueMs]) => dueMs <= atMs).map(([task]) => task);
    if (due.length > 0)
      await this.#try(async () => {
        const { results } = await operator.redriveTasks({ taskIds: due.map(asTaskId) });
        for (const { taskId, outcome } of results) {
          // Another transaction moves it: the next turn asks again.
          if (outcome === "busy") continue;
          this.#dead.delete(taskId);
          if (outcome === "redriven") write({ is: "redriven", atMs, task: taskId });
        }
      });
    return this.#dead.size;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #tick(count: number): Promise<void> {
    const { dice } = this.#place;
    const byKind = new Map<KindName, number>();
    for (let index = 0; index < count; index += 1) {
      const name = dice.weighted(this.#shares);
      byKind.set(name, (byKind.get(name) ?? 0) + 1);
    }
    const calls: Promise<void>[] = [];
    for (const [name, tasks] of byKind) {
      if (name === "waved") this.#wavedDue += tasks;
      else if (name === "event") calls.push(this.#addEvents(tasks));
      else if (name === "delayed") calls.push(this.#addDelayed(tasks));
      else calls.push(this.#add(name, tasks));
    }
    if (this.#wavedDue >= waves.count * waves.tasks) {
      this.#wavedDue -= waves.count * waves.tasks;
      calls.push(this.#addBatch());
    }
    await Promise.all(calls);
  }

  #payload(name: KindName, tag: string | null = null): SoakPayload {
    const { dice, scale } = this.#place;
    const [least, most] = kinds[name].ms;
    const group = name === "grouped" ? `g${String(dice.int(1, groups.count))}` : null;
    const fails = name === "flaky" ? dice.int(1, 2) : 0;
    const at = Date.now();
    const until = name === "doomed" ? at + scale.doomedMs : 0;
    return { at, ms: dice.int(least, most), tag: tag ?? group, fails, until };
  }

  async #add(name: KindName, count: number): Promise<void> {
    await this.#try(async () => {
      const payloads = Array.from({ length: count }, () => this.#payload(name));
      const added = await this.#client.enqueueMany(this.#kind(name), payloads);
      for (const { taskId } of added) this.#queued(taskId, name);
    });
  }

  async #addDelayed(count: number): Promise<void> {
    const { dice, scale } = this.#place;
    await this.#try(async () => {
      const runInMs = dice.int(1, scale.delayMs);
      const payloads = Array.from({ length: count }, () => this.#payload("delayed"));
      const added = await this.#client.enqueueMany(this.#kind("delayed"), payloads, { runInMs });
      for (const { taskId } of added) this.#queued(taskId, "delayed");
    });
  }

  /** Each event with a key of its own; some come twice. */
  async #addEvents(count: number): Promise<void> {
    const { dice, write } = this.#place;
    for (let index = 0; index < count; index += 1)
      await this.#try(async () => {
        const again = dice.percent(25) ? dice.pickAny(this.#events) : undefined;
        const key = again?.key ?? realRandom.uuid();
        const { taskId, outcome } = await this.#client.enqueue(
          this.#kind("event"),
          this.#payload("event"),
          { dedupeKey: key, dedupeMs: keyMs },
        );
        if (again === undefined) {
          this.#queued(taskId, "event");
          this.#events.push({ key, task: taskId });
          if (this.#events.length > keysKept) this.#events.shift();
          return;
        }
        this.counts.secondEvents += 1;
        if (taskId === again.task && outcome === "duplicate") return;
        const text = `event ${key} was task ${again.task}, then ${taskId} (${outcome})`;
        write({ is: "wrong", atMs: Date.now(), text });
      });
  }

  async #addBatch(): Promise<void> {
    await this.#try(async () => {
      const { batches } = this.#client;
      const { batchId, wave } = await batches.create({ name: "soak", waves: waves.count });
      const tasks: string[] = [];
      for (let ordinal = 1; ordinal <= waves.count; ordinal += 1) {
        const payloads = Array.from({ length: waves.tasks }, () =>
          this.#payload("waved", waveTag(batchId, ordinal)),
        );
        const added = await this.#client.enqueueMany(this.#kind("waved"), payloads, {
          wave: wave(ordinal),
        });
        tasks.push(...added.map(({ taskId }) => taskId));
      }
      while ((await batches.start(batchId)) === "busy") await sleep(100);
      for (const task of tasks) this.#queued(task, "waved");
    });
  }

  /** Batches that the last leg had made and not started when it was killed. */
  async #startDrafts(): Promise<void> {
    await this.#try(async () => {
      const { batches } = await this.#place.operator.listBatches({ max: 20 });
      for (const { batch, state } of batches)
        if (state === "draft") await this.#client.batches.start(batch);
    });
  }

  #queued(task: string, kind: KindName): void {
    this.#place.write({ is: "queued", atMs: Date.now(), task, kind });
  }

  #kind(name: KindName): TaskKind<SoakPayload, unknown> {
    const kind = this.#kinds.get(name);
    if (kind === undefined) throw new Error(`There is no kind ${name}`);
    return kind;
  }

  async #try(call: () => Promise<void>): Promise<void> {
    this.counts.calls += 1;
    try {
      await call();
    } catch (error) {
      this.counts.failed += 1;
      this.#lastError = messageOf(error);
    }
  }
}
