import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { defineSqlTask } from "../../shared/worker/define/define-sql-task";
import type { SqlCall } from "../../shared/worker/define/sql-call";
import { at, factsOf, operationId, statusOf } from "../support/builders";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import { openWorkerBench } from "../unit/worker/worker-bench";
import type { WorkerBench } from "../unit/worker/worker-bench";
import type { TaskKind } from "../../shared/worker/define/task-kind";
import { taskRequest } from "../../shared/worker/define/task-ref";

/*
 * Stored procedures as tasks on PostgreSQL, and the trials of the source texts whose tasks are SQL: what they printed, ten
 * times as fast. The log is written by the procedure itself, so it says what really ran when.
 */
let url: string;
let drop: () => Promise<void>;
let client: Client;
const stores: TaskStore[] = [];

beforeAll(async () => {
  ({ url, drop } = await createTestDatabase());
  client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`
    create table public.execution_log (
      scheduler text not null, part int not null, pid int not null default pg_backend_pid(),
      began timestamptz not null default clock_timestamp(), ended timestamptz);
    create procedure public.wait_for(scheduler text, part int, seconds float8) language plpgsql as $$
    begin
      insert into public.execution_log (scheduler, part) values (scheduler, part);
      perform pg_sleep(seconds);
      update public.execution_log l set ended = clock_timestamp()
        where l.scheduler = wait_for.scheduler and l.part = wait_for.part and l.pid = pg_backend_pid() and l.ended is null;
    end $$;
    create function public.add_up(a int, b int) returns table (total bigint, at timestamptz) language sql as $$
      select (a + b)::bigint, timestamptz '2026-01-02 03:04:05Z' $$;
    create procedure public.fail(reason text) language plpgsql as $$
    begin
      insert into public.execution_log (scheduler, part) values ('failed', 0);
      raise exception 'no: %', reason;
    end $$;
    create procedure public.forbidden() language sql as $$ drop table public.execution_log $$;
    grant select, insert, update on public.execution_log to taskgate_worker;`);
});

afterAll(async () => {
  for (const store of stores) await store.close();
  await client.end();
  await drop();
});

const procedures = ["public.wait_for", "public.add_up", "public.fail"];

/** A worker with connections for `readers` procedures at once beside its own calls. */
function openWorker(kind: TaskKind<SqlCall, unknown>, readers: number): WorkerBench {
  const store = openStore({
    url: urlAs(url, "app"),
    connectionsMax: readers + 2,
    random: realRandom,
    sleep,
  });
  stores.push(store);
  return openWorkerBench([kind], { store });
}

interface LogRow {
  part: number;
  pid: number;
  began: Date;
  ended: Date;
}

async function logOf(scheduler: string): Promise<LogRow[]> {
  const { rows } = await client.query<LogRow>(
    "select part, pid, began, ended from public.execution_log where scheduler = $1 order by began",
    [scheduler],
  );
  return rows;
}

/** The most that ran at the same time. */
function mostAtOnce(rows: readonly LogRow[]): number {
  return Math.max(
    ...rows.map((row) => rows.filter((r) => r.began <= row.began && row.began < r.ended).length),
  );
}

const spanMs = (rows: readonly LogRow[]): number =>
  Math.max(...rows.map((row) => row.ended.getTime())) - at(rows, 0).began.getTime();

describe("a stored procedure as a task", () => {
  test("a stored procedure as a task runs with its parameters inside the completion; its first row is the result", async () => {
    const kind = defineSqlTask({ name: "totals", procedures });
    const bench = openWorker(kind, 1);
    const payload = { procedure: "public.add_up", parameters: { a: 40, b: 2 } };
    const { taskId } = await bench.client.enqueue(kind, payload);
    await bench.work("totals");
    const facts = await factsOf(bench.store, taskId);
    expect(facts).toMatchObject({ state: "done" });
    expect(JSON.parse(facts.result ?? "")).toEqual({
      total: "42",
      at: "2026-01-02T03:04:05.000Z",
    });
  });

  test("a stored procedure that fails leaves nothing behind but the attempt with the server's message", async () => {
    const kind = defineSqlTask({ name: "failing", procedures, retry: { attempts: 1 } });
    const bench = openWorker(kind, 1);
    const payload = { procedure: "public.fail", parameters: { reason: "it's Sunday" } };
    const { taskId } = await bench.client.enqueue(kind, payload);
    await bench.work("failing");
    const facts = await factsOf(bench.store, taskId);
    expect(facts.state).toBe("dead");
    expect(facts.error).toContain("no: it's Sunday");
    expect(await logOf("failed")).toEqual([]);
  });

  test("a procedure that isn't allowed is never run: a dead letter names the allowed ones", async () => {
    const kind = defineSqlTask({ name: "guarded", procedures });
    const bench = openWorker(kind, 1);
    const payloads = [
      { procedure: "public.forbidden" },
      { procedure: "public.add_up(1,2); drop table public.execution_log; --" },
      { procedure: "public.add_up", parameters: { 'a" => 1); drop table x; --': 1 } },
    ];
    for (const payload of payloads)
      await expect(bench.client.enqueue(kind, payload)).rejects.toThrow(
        "payload: expected what kind guarded takes",
      );
    // A caller in SQL knows nothing of the code: the task is refused when it runs.
    await bench.client.enqueue(kind, { procedure: "public.add_up", parameters: { a: 1, b: 2 } });
    const tasks = await bench.store.enqueueTasks({
      name: "guarded",
      build: 1,
      operationId: operationId(),
      tasks: payloads.map((payload) => ({ kind: "guarded", payload: JSON.stringify(payload) })),
    });
    await bench.work("guarded");
    const errors: (string | null)[] = [];
    for (const taskId of tasks.taskIds) errors.push((await factsOf(bench.store, taskId)).error);
    expect(errors[0]).toContain(
      `procedure: expected one of the allowed procedures (${procedures.join(", ")}), got "public.forbidden"`,
    );
    expect(errors[1]).toContain("procedure: expected one of the allowed procedures");
    expect(errors[2]).toContain("expected a name of letters, digits and _");
    expect((await client.query("select 1 from public.execution_log limit 0")).rows).toEqual([]);
  });

  test("a cancel request breaks the statement off on the server, and nothing of it stays", async () => {
    const kind = defineSqlTask({ name: "long", procedures, leaseMs: 1_000 });
    const bench = openWorker(kind, 1);
    const parameters = { scheduler: "long", part: 1, seconds: 60 };
    const payload = { procedure: "public.wait_for", parameters };
    const { taskId } = await bench.client.enqueue(kind, payload);
    const working = bench.work("long", { maxMs: 30_000 });
    const isSleeping = async (): Promise<boolean> => {
      const { rows } = await client.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
      );
      return rows.length > 0;
    };
    while (!(await isSleeping())) await sleep(20);
    await bench.store.cancelTasks({ taskIds: [taskId], reason: "enough" });
    await working;
    expect((await factsOf(bench.store, taskId)).state).toBe("cancelled");
    expect(await isSleeping()).toBe(false);
    expect(await logOf("long")).toEqual([]);
  });
});

describe("the trials of the source texts, at 1/10 of the time", () => {
  test("ten tasks run in pairs with two workers, five rounds: each task once, both workers used (S3.6)", async () => {
    const kind = defineSqlTask({ name: "pairs", procedures, limit: 2, prefetch: 0 });
    const workers = [openWorker(kind, 1), openWorker(kind, 1)];
    const { client: tasks, store } = at(workers, 0);
    await tasks.enqueueAll(
      Array.from({ length: 10 }, (_, index) =>
        taskRequest(kind, {
          procedure: "public.wait_for",
          parameters: { scheduler: "pairs", part: index, seconds: 1 },
        }),
      ),
    );
    const working = Promise.all(workers.map((worker) => worker.work("pairs", { concurrency: 1 })));
    let midway = await statusOf(store, "pairs");
    while (midway.done < 4) {
      await sleep(20);
      midway = await statusOf(store, "pairs");
      expect(midway.claimed).toBeLessThanOrEqual(2);
      expect(midway.claimed + midway.ready + midway.done).toBe(10);
    }
    expect(midway.ready).toBeGreaterThanOrEqual(4);
    await working;
    const rows = await logOf("pairs");
    expect(rows.map((row) => row.part)).toHaveLength(10);
    expect(new Set(rows.map((row) => row.part)).size).toBe(10);
    const { rows: executions } = await client.query(
      "select distinct l.task_execution_id from taskgate.v_execution_log l where l.definition = 'pairs' and l.outcome = 'done'",
    );
    expect(executions).toHaveLength(2);
    expect(mostAtOnce(rows)).toBe(2);
    expect(spanMs(rows)).toBeGreaterThanOrEqual(5 * 1_000);
    // The next task starts when one ends, not at the next tick of 10 s (S3.3).
    expect(spanMs(rows)).toBeLessThan(5 * 1_000 + 5_000);
  }, 30_000);

  /** Order, how many, seconds; the source text's data. */
  const waves = [
    { tasks: 4, seconds: 10.1 },
    { tasks: 2, seconds: 9.2 },
    { tasks: 1, seconds: 8.3 },
    { tasks: 2, seconds: 7.4 },
    { tasks: 1, seconds: 6.5 },
  ];
  const readerTimes = [88.4, 51.6, 51.6, 41.5, 41.5];

  async function runWaves(readers: number): Promise<LogRow[]> {
    const name = `scheduler-${String(readers)}`;
    const kind = defineSqlTask({ name, procedures, limit: readers, concurrencyPerWorker: readers });
    const bench = openWorker(kind, readers);
    const batch = await bench.client.batches.create({ name, waves: waves.length });
    await bench.client.enqueueAll(
      waves.flatMap(({ tasks, seconds }, index) =>
        Array.from({ length: tasks }, () =>
          taskRequest(
            kind,
            {
              procedure: "public.wait_for",
              parameters: { scheduler: name, part: index, seconds: seconds / 10 },
            },
            { wave: batch.wave(index + 1) },
          ),
        ),
      ),
    );
    await bench.client.batches.start(batch.batchId);
    // One execution does it all, or several do, as hints would have them: which of both is not what the source text is about.
    while ((await statusOf(bench.store, name)).done < 10) await bench.work(name, { maxMs: 30_000 });
    return logOf(name);
  }

  test("ten rows of five schedulers at once are read wave by wave by 1 to 5 readers, in the source text's time (S4.1 to S4.6)", async () => {
    const logs = await Promise.all([1, 2, 3, 4, 5].map(runWaves));
    for (const [index, rows] of logs.entries()) {
      const readers = index + 1;
      expect(rows.map((row) => row.part)).toEqual([0, 0, 0, 0, 1, 1, 2, 3, 3, 4]);
      for (const row of rows) {
        for (const lower of rows.filter(({ part }) => part < row.part)) {
          expect(row.began.getTime()).toBeGreaterThanOrEqual(lower.ended.getTime());
        }
      }
      expect({ readers, atOnce: mostAtOnce(rows) }).toEqual({
        readers,
        atOnce: Math.min(readers, 4),
      });
      const ideal = (at(readerTimes, index) * 1_000) / 10;
      expect(spanMs(rows)).toBeGreaterThanOrEqual(ideal - 10);
      expect(spanMs(rows)).toBeLessThan(ideal + 5_000);
    }
  }, 60_000);
});
