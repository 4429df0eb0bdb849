import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import { executionNumber } from "../../shared/core/ids";
import type { ExecutionNumber } from "../../shared/core/ids";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import type { EmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { migrateStore, openStore } from "../../shared/store/open-store";
import { defineTask } from "../../shared/worker/define/define-task";
import { createRegistry } from "../../shared/worker/define/registry";
import { register } from "../../shared/worker/client/register";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { LimitPools } from "../../shared/worker/run/limit-pools";
import { runWorker } from "../../shared/worker/run/run-worker";
import { withTokens } from "../../shared/worker/run/with-tokens";
import { enqueue, statusOf } from "../support/builders";
import { until } from "../support/gate";
import { quietEnvironment } from "../support/quiet-environment";
import { overriding } from "../unit/worker/worker-bench";

/*
 * Goal: a worker whose execution the database has forgotten doesn't take the execution of another one for its own, though both have
 * one number. Method: a server is set back to what it was before the worker began, as a failover to a standby that lacks the
 * last commits would do it; a second process then begins, and gets the same numbers.
 */
const leaseMs = 6_000;
const name = "one-at-once";
const calls = { name: "one-call-at-once", limit: 1, leaseMs } as const;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that can be set back to the instant at which `keep` was called. */
class ForgetfulServer {
  readonly #home: string;
  #server: EmbeddedPostgres;

  private constructor(home: string, server: EmbeddedPostgres) {
    this.#home = home;
    this.#server = server;
  }

  static async start(): Promise<ForgetfulServer> {
    const home = await mkdtemp(join(tmpdir(), "taskgate-lost-commits-"));
    // PostgreSQL runs as another user under root.
    await chmod(home, 0o755);
    const server = await startEmbeddedPostgres(optionsOf(home));
    await migrateStore({ url: server.url });
    return new ForgetfulServer(home, server);
  }

  get url(): string {
    return this.#server.url;
  }

  async keep(): Promise<void> {
    await this.#server.stop();
    execFileSync("cp", ["-a", join(this.#home, "data"), join(this.#home, "kept")]);
    await this.#restart();
  }

  async setBack(): Promise<void> {
    await this.#server.stop();
    await rm(join(this.#home, "data"), { recursive: true });
    execFileSync("mv", [join(this.#home, "kept"), join(this.#home, "data")]);
    await this.#restart();
  }

  async close(): Promise<void> {
    await this.#server.stop();
    await rm(this.#home, { recursive: true, force: true });
  }

  async #restart(): Promise<void> {
    const { port } = this.#server;
    this.#server = await startEmbeddedPostgres({ ...optionsOf(this.#home), port });
  }
}

const optionsOf = (home: string) => ({ keep: true, fast: true, dataDir: join(home, "data") });

/** What a process is told and does, and the executions that it has started. */
interface Host {
  readonly store: TaskStore;
  readonly started: ExecutionNumber[];
  readonly events: string[];
  /** Works until nothing is left. */
  work(): Promise<unknown>;
  /** One call under the limit of calls. */
  call(): Promise<unknown>;
  /** Lets the handler and the body end. */
  finish(): void;
}

async function openHost(url: string, workerName: string): Promise<Host> {
  const opened = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
  closers.push(() => opened.close());
  const started: ExecutionNumber[] = [];
  const events: string[] = [];
  const end = new AbortController();
  const store = notingStarts(opened, started);
  const environment = quietEnvironment(store, { workerName });
  const heartbeat = new Heartbeat(environment);
  const pools = new LimitPools(environment, heartbeat);
  closers.push(() => pools.stop());
  /** Until it is told to stop, or may end. */
  const wait = async (what: string, signal: AbortSignal): Promise<void> => {
    events.push(`${what} begins`);
    await sleep(60_000, AbortSignal.any([signal, end.signal])).catch(() => undefined);
    events.push(`${what} ${signal.aborted ? "is told to stop" : "ends"}`);
    signal.throwIfAborted();
  };
  const task = defineTask({
    name,
    limit: 1,
    leaseMs,
    run: (_, { signal }) => wait("task", signal),
  });
  const registry = createRegistry([task]);
  const definition = registry.definition(name);
  if (definition === null) throw new Error("the registry has the one task");
  await register(environment, definition);
  return {
    store,
    started,
    events,
    work: () =>
      runWorker(
        { environment, registry, heartbeat, concurrencyPerWorker: 1, idleReads: 0, idlePauseMs: 1 },
        name,
        {
          deadlineMs: realClock.monotonicMs() + 60_000,
          marginMs: 100,
          signal: new AbortController().signal,
        },
      ),
    call: () =>
      withTokens(pools, { limit: calls, waitMs: 10_000 }, ({ signal }) => wait("body", signal)),
    finish: () => {
      end.abort();
    },
  };
}

function notingStarts(store: TaskStore, started: ExecutionNumber[]): TaskStore {
  return overriding(store, {
    startExecution: async (input) => {
      const answer = await store.startExecution(input);
      if (answer.executionId !== null) started.push(executionNumber(answer.executionId));
      return answer;
    },
  });
}

const mostMs = 20_000;

/** Begins a task, and then a call under a limit. */
async function begin(host: Host): Promise<unknown> {
  const worked = host.work();
  await until("the task begins", () => host.events.includes("task begins"), mostMs);
  const called = host.call();
  await until("the body begins", () => host.events.includes("body begins"), mostMs);
  return Promise.allSettled([worked, called]);
}

test("a worker that a database has lost is told to stop, and another one's execution of the same number goes on", async () => {
  const server = await ForgetfulServer.start();
  closers.push(() => server.close());
  const forgotten = await openHost(server.url, "forgotten");
  await enqueue(forgotten.store, name, 2);
  await server.keep();
  const forgottenEnds = begin(forgotten);
  await until("the forgotten one begins", () => forgotten.events.length === 2, mostMs);
  await server.setBack();

  const other = await openHost(server.url, "other");
  const otherEnds = begin(other);
  await until("the other one begins", () => other.events.length === 2, mostMs);
  expect(other.started).toEqual(forgotten.started);
  await until("the forgotten one is told", () => forgotten.events.length === 4, mostMs);
  expect(forgotten.events.slice(2).sort()).toEqual([
    "body is told to stop",
    "task is told to stop",
  ]);
  await forgottenEnds;

  // What the forgotten one still says at its end isn't taken for the other's.
  const { executions } = await other.store.listExecutions({ isOpen: true, max: 10 });
  expect(executions.map(({ worker, tokens }) => [worker, tokens])).toEqual([
    ["other", 1],
    ["other", 1],
  ]);
  expect(other.events).toEqual(["task begins", "body begins"]);
  other.finish();
  await otherEnds;
  expect(other.events.filter((event) => event === "task ends")).toHaveLength(2);
  expect(other.events).not.toContain("task is told to stop");
  expect(await statusOf(other.store, name)).toMatchObject({ done: 2, held: 0 });

  // It was told, and isn't stuck: it works on as before.
  await enqueue(other.store, name, 1);
  forgotten.finish();
  await forgotten.work();
  expect(await forgotten.call()).toMatchObject({ ran: true });
  expect(forgotten.events.slice(4)).toEqual([
    "task begins",
    "task ends",
    "body begins",
    "body ends",
  ]);
  expect(await statusOf(other.store, name)).toMatchObject({ done: 3, held: 0 });
}, 60_000);
