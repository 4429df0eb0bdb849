import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
// A reset connection must look here as it does outside jest.
import "../../support/node-errors";
import { until } from "../../support/gate";
import { runCli } from "../../../shared/cli/main";
import { StoreUncertainError } from "../../../shared/core/errors";
import { asFence } from "../../../shared/core/ids";
import type { Fence } from "../../../shared/core/ids";
import { readVersion } from "../../../shared/core/own-manifest";
import { realRandom } from "../../../shared/platform/real-clock";
import type { EnqueueTasksInput, TaskStore } from "../../../shared/ports/task-store";
import {
  checkStoreSchema,
  migrateStore,
  mssqlScripts,
  openStore,
  readStoreSchema,
} from "../../../shared/store/open-store";
import {
  define,
  done,
  enqueue,
  only,
  operationId,
  setLimit,
  startWorker,
  stateOf,
  statusOf,
} from "../../support/builders";
import type { EngineRequest } from "../../tsql-server/tds/engine-port";
import { once, seeded, serverErrors } from "../../tsql-server/tds/faults";
import type { Fault, FaultPoint } from "../../tsql-server/tds/faults";
import type { SimulatedServer } from "../../tsql-server/tds/simulated-server";
import { startTaskgateServer } from "./start-taskgate-server";

/*
 * The product as it is, on the simulated SQL Server: its migrator, its adapter with the driver, its command line, and
 * what becomes of a call when the connection is lost at any place.
 */

let simulated: SimulatedServer;
const stores: TaskStore[] = [];

beforeAll(async () => {
  simulated = await startTaskgateServer();
});
afterEach(async () => {
  simulated.server.setFault(undefined);
  await Promise.all(stores.splice(0).map((store) => store.close()));
  simulated.reset();
});
afterAll(() => simulated.close());

/** A store that pauses for no time between repeats. */
function open(options: { callTimeoutMs?: number; connectionsMax?: number } = {}): TaskStore {
  const store = openStore({
    url: simulated.url,
    connectionsMax: 4,
    random: realRandom,
    sleep: () => Promise.resolve(),
    ...options,
  });
  stores.push(store);
  return store;
}

function oneTask(name: string): EnqueueTasksInput {
  return { name, build: 1, operationId: operationId(), tasks: [{ payload: '{"n":1}' }] };
}

describe("the migrator", () => {
  test("the migrator has made the schema through the driver, and finds nothing to do again", async () => {
    expect(await migrateStore({ url: simulated.url })).toEqual({
      applied: [],
      isLogicRenewed: false,
    });
    const { versions } = await readStoreSchema({ url: simulated.url });
    const migrations = mssqlScripts().migrations.map((script) => script.name);
    expect(versions.map(({ name }) => name)).toEqual([`logic ${readVersion()}`, ...migrations]);
    await checkStoreSchema({ url: simulated.url });
  });
});

test("a task goes through its whole life by the driver", async () => {
  const store = open();
  const name = await define(store, { limit: 2 });
  const [first, second] = await enqueue(store, name, [
    { payload: '{"text":"Prüfung \u{1f512}"}' },
    { runInMs: 60_000 },
  ]);
  if (first === undefined || second === undefined) throw new Error("two tasks expected");
  const worker = await startWorker(store, name, { want: 2 });
  const task = await worker.claimOne();
  expect(task).toMatchObject({ taskId: first, payload: { text: "Prüfung \u{1f512}" } });
  expect(await stateOf(store, first)).toBe("claimed");
  expect((await worker.beat()).status).toBe("renewed");
  const answer = await worker.work({ done: [done(task, { result: '{"ok":true}' })] });
  expect(answer.refused).toEqual([]);
  expect((await worker.finish()).status).toBe("ended");
  expect(await statusOf(store, name)).toMatchObject({ done: 1, scheduled: 1, held: 0 });
  expect(await stateOf(store, second)).toBe("scheduled");
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
});

describe("the command line", () => {
  async function run(...words: string[]): Promise<{ code: number; lines: string }> {
    const lines: string[] = [];
    const code = await runCli({
      words: [...words, "--db", simulated.url],
      environment: {},
      folder: __dirname,
      output: {
        line: (text) => lines.push(text),
        error: (text) => lines.push(text),
        columns: null,
      },
    });
    return { code, lines: lines.join("\n") };
  }

  test("the command line enqueues, shows, limits, pauses and explains", async () => {
    const store = open();
    const name = await define(store);
    await enqueue(store, name, 2);
    expect(await run("status")).toMatchObject({
      code: 0,
      lines: expect.stringContaining(name),
    });
    expect(await run("limit", name, "3", "--reason", "more work")).toMatchObject({ code: 0 });
    expect(await statusOf(store, name)).toMatchObject({ limit: 3, limitSource: "operator" });
    expect((await run("pause", name, "--reason", "quiet")).code).toBe(0);
    expect((await run("definitions")).lines).toContain("paused");
    expect((await run("resume", name, "--reason", "go on")).code).toBe(0);
    const tasks = await run("tasks", name, "--json");
    expect(tasks.code).toBe(0);
    const [id] = /\d+/.exec(tasks.lines) ?? [];
    expect((await run("explain", id ?? "")).lines).toContain("ready");
  });

  test("the command that checks invariants finds the schema sound, also in depth", async () => {
    expect(await run("migrate", "--check")).toMatchObject({ code: 0 });
    expect(await run("doctor", "--deep")).toMatchObject({ code: 0 });
  });
});

/** Nothing of a call may stay behind: no lock, no open transaction. */
async function expectQuiet(): Promise<void> {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  for (let turns = 0; simulated.server.openConnections > 0; turns += 1) {
    if (turns > 2_000) throw new Error("Connections stay open");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(simulated.world.connections).toEqual([]);
  expect(simulated.world.locks.describe()).toEqual([]);
}

function isCall(request: EngineRequest, procedure: string): boolean {
  return request.kind === "procedure" && request.name === `Taskgate.${procedure}`;
}

const at =
  (procedure: string) =>
  (point: FaultPoint): boolean =>
    point.place === "request" && isCall(point.request, procedure);

const cuts = (["fin", "rst"] as const).flatMap((manner): { title: string; fault: Fault }[] => [
  { title: `before it is run, ${manner}`, fault: { kind: "cut", at: "before", manner } },
  { title: `after it was run, ${manner}`, fault: { kind: "cut", at: "executed", manner } },
  {
    title: `in its answer, ${manner}`,
    fault: { kind: "cut", at: "mid answer", tokens: 2, manner },
  },
  { title: `behind its answer, ${manner}`, fault: { kind: "cut", at: "answered", manner } },
]);

describe("a call whose connection is lost", () => {
  test.each(cuts)(
    "a call whose connection is lost $title is repeated, and has its effect once",
    async ({ fault }) => {
      const store = open();
      const name = await define(store);
      simulated.server.setFault(once(at("EnqueueTasks"), fault));
      const input = oneTask(name);
      const { taskIds } = await store.enqueueTasks(input);
      expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
      expect((await store.enqueueTasks(input)).taskIds).toEqual(taskIds);
      await expectQuiet();
    },
  );

  test("a call that gives back tokens above the limit and is lost is repeated, and takes none in use", async () => {
    const store = open();
    const name = await define(store, { limit: 3 });
    const { executionId } = await startWorker(store, name, { want: 2 });
    await startWorker(store, name, { want: 1 });
    await setLimit(store, name, 1);
    simulated.server.setFault(
      once(at("ReleaseSurplus"), { kind: "cut", at: "executed", manner: "rst" }),
    );
    expect(await store.releaseSurplus({ executionId, keep: 1 })).toMatchObject({ tokens: 1 });
    expect(await statusOf(store, name)).toMatchObject({ held: 2 });
  });

  test.each(["deadlock", "busy", "databaseUnavailable"] as const)(
    "a call that is lost or that the server refuses with %s is repeated",
    async (error) => {
      const store = open();
      const name = await define(store);
      const fault: Fault = { kind: "error", error: serverErrors[error] };
      simulated.server.setFault(once(at("EnqueueTasks"), fault));
      await store.enqueueTasks(oneTask(name));
      expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
    },
  );

  test("a call to a server that falls silent is given up, and repeated on another connection", async () => {
    const store = open({ callTimeoutMs: 200 });
    const name = await define(store);
    simulated.server.setFault(
      once(at("EnqueueTasks"), { kind: "cut", at: "executed", manner: "silence" }),
    );
    const input = oneTask(name);
    const { taskIds } = await store.enqueueTasks(input);
    expect((await store.enqueueTasks(input)).taskIds).toEqual(taskIds);
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
  });
});

describe("a user's transaction whose connection is lost", () => {
  const commits = (point: FaultPoint): boolean =>
    point.place === "request" &&
    point.request.kind === "transaction" &&
    point.request.action === "commit";

  async function commitWith(
    fault: Fault,
    store: TaskStore,
    input: EnqueueTasksInput,
  ): Promise<unknown> {
    simulated.server.setFault(once(commits, fault));
    return store
      .transaction((transaction) => store.enqueueTasks(input, transaction))
      .catch((error: unknown) => error);
  }

  test.each([
    { title: "before the commit is run: nothing is left", at: "before", ready: 0 },
    { title: "after it was run: everything is there", at: "executed", ready: 1 },
  ] as const)(
    "a transaction's caller is told that the outcome is unknown, $title",
    async (entry) => {
      const store = open();
      const input = oneTask(await define(store));
      const outcome = await commitWith({ kind: "cut", at: entry.at, manner: "rst" }, store, input);
      expect(outcome).toBeInstanceOf(StoreUncertainError);
      expect(await statusOf(store, input.name)).toMatchObject({ ready: entry.ready });
      // With its operation id the caller may find out by asking again.
      await store.enqueueTasks(input);
      expect(await statusOf(store, input.name)).toMatchObject({ ready: 1 });
      await expectQuiet();
    },
  );

  test("a commit that the server refuses and rolls back: nothing is left, the caller knows, the process lives", async () => {
    const store = open();
    const input = oneTask(await define(store));
    const refusal: Fault = { kind: "error", error: serverErrors.deadlock };
    const outcome = await commitWith(refusal, store, input);
    expect(outcome).toMatchObject({ code: "TASKGATE_STORE_CONFLICT" });
    expect(String(outcome)).toContain("(1205)");
    expect(await statusOf(store, input.name)).toMatchObject({ ready: 0 });
    await expectQuiet();
  });

  test("a transaction whose connection is lost before a statement of it leaves nothing, and no lock", async () => {
    const store = open();
    const name = await define(store);
    simulated.server.setFault(
      once(at("EnqueueTasks"), { kind: "cut", at: "executed", manner: "rst" }),
    );
    const input = { ...oneTask(name), tasks: [{ payload: null, group: "g", dedupeKey: "k" }] };
    await expect(
      store.transaction((transaction) => store.enqueueTasks(input, transaction)),
    ).rejects.toMatchObject({ code: "TASKGATE_STORE_UNAVAILABLE" });
    const other = open();
    expect((await other.enqueueTasks({ ...input, operationId: null })).outcomes).toEqual([
      "enqueued",
    ]);
    await expectQuiet();
  });
});

describe("a failover", () => {
  test("a failover in the middle of many calls lets each be done once", async () => {
    const store = open();
    const name = await define(store, { limit: 4 });
    const inputs = Array.from({ length: 20 }, () => oneTask(name));
    const calls = inputs.map((input) => store.enqueueTasks(input));
    await calls[0];
    simulated.server.cutAll();
    await Promise.all(calls);
    expect(await statusOf(store, name)).toMatchObject({ ready: 20 });
  });

  test("a failover while a call waits for a lock takes the lock's holder away, and the call is repeated", async () => {
    const store = open();
    const name = await define(store);
    const input = { ...oneTask(name), tasks: [{ payload: null, dedupeKey: "k" }] };
    let waiting: Promise<unknown> | undefined;
    const holder = store.transaction(async (transaction) => {
      await store.enqueueTasks({ ...input, operationId: null }, transaction);
      waiting = store.enqueueTasks(input);
      while (!simulated.world.connections.some(({ state }) => state === "waiting")) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      simulated.server.cutAll();
    });
    await expect(holder).rejects.toMatchObject({ isRetryable: true });
    expect(await waiting).toMatchObject({ outcomes: ["enqueued"] });
    expect(await statusOf(store, name)).toMatchObject({ ready: 1 });
    await expectQuiet();
  });
});

describe("faults by chance", () => {
  const faults = [
    { kind: "cut", at: "before", manner: "rst" },
    { kind: "cut", at: "executed", manner: "fin" },
    { kind: "cut", at: "executed", manner: "rst" },
    { kind: "cut", at: "mid answer", tokens: 2, manner: "rst" },
    { kind: "cut", at: "answered", manner: "fin" },
    { kind: "error", error: serverErrors.deadlock },
    { kind: "error", error: serverErrors.busy },
  ] as const satisfies Fault[];

  test.each([1, 2, 3, 4])(
    "two workers do thirty tasks with faults of seed %i, each once, and nothing is left behind",
    async (seed) => {
      const store = open();
      const name = await define(store, { limit: 2 });
      await enqueue(store, name, [
        ...Array.from({ length: 20 }, () => ({})),
        ...Array.from({ length: 10 }, (_, index) => ({ group: `g${String(index % 3)}` })),
      ]);
      const workers = [await startWorker(store, name), await startWorker(store, name)];
      simulated.server.setFault(seeded({ seed, rate: 0.15, faults }));
      const finished: string[] = [];
      await Promise.all(
        workers.map(async (worker) => {
          for (let claimed = await worker.claim(3); claimed.length > 0;) {
            finished.push(...claimed.map((task) => task.taskId));
            claimed = (await worker.complete(claimed, 3)).claimed;
          }
          await worker.finish();
        }),
      );
      simulated.server.setFault(undefined);
      // A worker that finds nothing ready may leave a group's next task behind.
      const last = await startWorker(store, name);
      for (let claimed = await last.claim(5); claimed.length > 0;) {
        finished.push(...claimed.map((task) => task.taskId));
        claimed = (await last.complete(claimed, 5)).claimed;
      }
      expect(new Set(finished).size).toBe(30);
      expect(finished).toHaveLength(30);
      expect(await statusOf(store, name)).toMatchObject({ done: 30, ready: 0, waiting: 0 });
      expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
      await expectQuiet();
    },
  );
});

test("the calls queue up for the only connection, also behind a transaction", async () => {
  const store = open({ connectionsMax: 1 });
  const name = await define(store);
  const calls = Array.from({ length: 10 }, () => store.enqueueTasks(oneTask(name)));
  const inside = store.transaction((transaction) => store.enqueueTasks(oneTask(name), transaction));
  const answers = await Promise.all([...calls, inside]);
  expect(new Set(answers.map(({ taskIds }) => only(taskIds))).size).toBe(11);
  expect(simulated.server.openConnections).toBe(1);
});

test("a session's settings by a user's statement end before another task has the connection", async () => {
  const store = open({ connectionsMax: 1 });
  const take =
    "EXEC sp_getapplock @Resource = N'report', @LockMode = 'Exclusive', @LockOwner = 'Session';";
  await store.transaction((transaction) => transaction.query(take));
  // The other connection would wait for the lock.
  const other = open({ connectionsMax: 1 });
  const free =
    "DECLARE @vStatus int; EXEC @vStatus = sp_getapplock @Resource = N'report', @LockMode = 'Exclusive', @LockOwner = 'Session', @LockTimeout = 0; SELECT @vStatus AS Status;";
  await until("the lock is free", async () => {
    const [row] = await other.transaction((transaction) => transaction.query(free));
    return row?.["Status"] === 0;
  });
  await define(store);
});

describe("what a completion sets in the session", () => {
  const ask = "SELECT @@OPTIONS & 16384 AS XactAbort, @@OPTIONS & 512 AS NoCount;";

  async function complete(
    store: TaskStore,
    fence?: Fence,
    around: (body: () => Promise<unknown>) => Promise<unknown> = (body) => body(),
  ): Promise<void> {
    const name = await define(store);
    await store.enqueueTasks(oneTask(name));
    const worker = await startWorker(store, name);
    const task = await worker.claimOne();
    const { executionId } = worker;
    const input = { executionId, ...done({ ...task, fence: fence ?? task.fence }) };
    await around(() =>
      store.transaction((within) =>
        store.completeTask({ ...input, endsTransaction: true }, within),
      ),
    );
  }

  test.each([
    ["that commits", undefined],
    ["that is fenced", asFence("999999999")],
  ])("%s ends before another task has the connection", async (_, fence) => {
    const store = open({ connectionsMax: 1 });
    const before = await store.transaction((transaction) => transaction.query(ask));
    await complete(store, fence);
    expect(await store.transaction((transaction) => transaction.query(ask))).toEqual(before);
  });

  test("a completion's settings that the server refuses end before another task has the connection", async () => {
    const store = open({ connectionsMax: 1 });
    const before = await store.transaction((transaction) => transaction.query(ask));
    const other = open({ connectionsMax: 1 });
    const hold = "SELECT e.State FROM Taskgate.TaskExecution AS e WITH (UPDLOCK);";
    const refused = complete(store, undefined, (body) =>
      other.transaction(async (transaction) => {
        await transaction.query(hold);
        await body();
      }),
    );
    await expect(refused).rejects.toMatchObject({ code: "TASKGATE_STORE_CONFLICT" });
    expect(await store.transaction((transaction) => transaction.query(ask))).toEqual(before);
  });
});
