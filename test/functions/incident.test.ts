import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { ClaimedTask } from "../../shared/ports/task-store";
import { asTaskId } from "../../shared/core/ids";
import { schedule } from "../contract/schedule-builders";
import { done, enqueue, enqueueOne, setLimit, startWorker } from "../support/builders";
import type { Worker } from "../support/builders";
import { withClient } from "../support/test-postgres";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { evenedOut } from "./evened-out";

/*
 * Goal: an operator's ten questions at three in the morning, each answered by one command, with a database and with the app's address
 * alone, and by one request, compared by value
 * with what the incident's script has done: a limit was lowered, a worker is frozen, a payload is poison, a definition is
 * paused, a group is full, a handler hangs.
 */

const minuteMs = 60_000;
const host = "host-a:4711";
const frozen = "host-b:4712";

let api: ApiSetup;
let incident: Awaited<ReturnType<typeof play>>;

beforeAll(async () => {
  api = await setupApi();
  incident = await play();
}, 60_000);
afterAll(() => api.close());

async function die(worker: Worker, error: string): Promise<string> {
  const [task] = await worker.claim(1);
  if (task === undefined) throw new Error("no task to fail");
  await worker.fail([task], { as: "dead", error });
  return task.taskId;
}

async function claimed(worker: Worker, want: number): Promise<ClaimedTask[]> {
  const tasks = await worker.claim(want);
  if (tasks.length !== want) throw new Error(`claimed ${String(tasks.length)}`);
  return tasks;
}

/** The script. Answers what the questions are about. */
async function play() {
  const { store, register } = api;
  const names = ["import", "mail", "paused-before", "reports", "grouped"];
  for (const name of names) await register(name, { limit: 4, leaseMs: 86_400_000 });

  // import: 30 tasks ended well, then its limit was lowered; one handler hangs, others wait.
  await enqueue(store, "import", 30);
  const worker = await startWorker(store, "import", { want: 4, worker: host });
  for (let left = 30; left > 0; left -= 6) {
    const tasks = await claimed(worker, 6);
    await worker.work({ done: tasks.map((task) => done(task, { durationMs: 20 })), want: 0 });
  }
  const hanging = await enqueueOne(store, "import");
  const [held] = await claimed(worker, 1);
  const oldest = await enqueueOne(store, "import", { priority: 500 });
  const waiting = await enqueueOne(store, "import", { priority: 5 });
  await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
  await setLimit(store, "import", 1);
  await store.pauseDefinition({ name: "paused-before", changedBy: "bob", reason: "not ready" });

  // mail: poison payloads.
  await enqueue(store, "mail", 4);
  const mailer = await startWorker(store, "mail", { worker: host });
  const dead = [
    await die(mailer, "Partner answered 500 for order 17"),
    await die(mailer, "Partner answered 500 for order 23"),
    await die(mailer, "Partner answered 500 for order 4"),
    await die(mailer, "Expected `to` to be an address"),
  ];
  await mailer.finish();

  // reports: its worker is frozen, its lease is over.
  await enqueue(store, "reports", 1);
  await register("short-lease", { limit: 1, leaseMs: 1_000 });
  await enqueue(store, "short-lease", 1);
  const lost = await startWorker(store, "short-lease", { worker: frozen });
  const [lostTask] = await claimed(lost, 1);

  // grouped: one task of the group runs, the other waits.
  const [, groupWaiting = ""] = await enqueue(store, "grouped", [
    { group: "customer-G", groupScope: "definition" },
    { group: "customer-G", groupScope: "definition" },
  ]);
  const grouped = await startWorker(store, "grouped", { worker: host });
  const [groupHolder] = await claimed(grouped, 1);
  const nextRunAt = new Date(Date.now() + 60 * minuteMs);
  await store.setSchedules({
    name: "reports",
    build: 7,
    changedBy: "the code",
    schedules: ["nightly", "off"].map((name) => schedule({ name, nextRunAt })),
  });
  await store.setSchedulePaused({
    name: "reports",
    schedule: "off",
    paused: true,
    nextRunAt: null,
    changedBy: "bob",
  });
  // A hung handler is told from the usual by its time, a frozen worker by its lease.
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  if (held?.taskId !== hanging) throw new Error("another task hangs");
  return { hanging, oldest, waiting, dead, lostTask, groupHolder, groupWaiting };
}

/** A command that looks, by both ways in; they say the same. */
const taskgate: ApiSetup["taskgate"] = async (...words) => {
  const [near, far] = [await api.taskgate(...words), await api.byUrl(...words)];
  expect({ ...far, out: evenedOut(far.out) }).toEqual({ ...near, out: evenedOut(near.out) });
  return far;
};

async function json(...words: readonly string[]): Promise<unknown> {
  const { out } = await taskgate(...words, "--json");
  return JSON.parse(out);
}

async function get(route: string, params = {}, query = {}): Promise<unknown> {
  const { status, body } = await api.call({ route, params, query });
  expect(status).toBe(200);
  return body;
}

describe("An operator's ten questions", () => {
  test("the reason that a task waits is told with the limit, its author and the holder", async () => {
    const { waiting } = incident;
    const expected = {
      reasons: expect.arrayContaining([
        expect.objectContaining({ decides: true, sentence: expect.stringContaining(host) }),
      ]),
    };
    expect(await get("api-task", { id: waiting })).toMatchObject(expected);
    const { out } = await taskgate("explain", waiting);
    expect(out).toMatch(/limit of `?import`? is reached: 1 token/);
    expect(out).toContain("operator");
    const group = await taskgate("explain", incident.groupWaiting);
    expect(group.out).toMatch(/customer-G.* is full/);
    expect(group.out).toContain(incident.groupHolder?.taskId);
  });

  test("the holders of tokens are told with their tasks and since when", async () => {
    const running = [
      expect.objectContaining({ task: incident.hanging, state: "running", worker: host }),
    ];
    expect(await get("api-pace", { name: "import" })).toMatchObject({ running });
    const { running: shown } = (await json("top", "import")) as { running: { sinceMs: number }[] };
    expect(shown).toEqual(running);
    expect(shown[0]?.sinceMs).toBeGreaterThan(1_000);
    const { out } = await taskgate("executions", "import");
    expect(out).toContain(host);
  });

  test("the statistics of tokens whose tasks all fail don't call them idle: their attempts failed while they were held", async () => {
    await api.store.rollUpStatistics({ max: 1_000 });
    const { out } = await taskgate("statistics", "mail");
    expect(out).toMatch(/^tokens +ran tasks that ended well for 0 % of the time held$/m);
    expect(out).not.toContain("in use");
    expect(await get("api-statistics", { name: "mail" })).toMatchObject({
      total: { tokenUse: 0, failed: 4, done: 0 },
      periods: [{ held: expect.any(Number), limit: 4 }],
    });
  });

  test("the failures are told by error, with counts, first, last and an example", async () => {
    const groups = [
      {
        definition: "mail",
        kind: "mail",
        like: "Partner answered 500 for order #",
        error: "Partner answered 500 for order 4",
        count: 3,
        example: incident.dead[2],
      },
      { like: "Expected `to` to be an address", count: 1, example: incident.dead[3] },
    ];
    expect(await get("api-failures")).toMatchObject({ groups, isWhole: true, lookedAt: 4 });
    expect(await json("failures", "mail")).toMatchObject({ groups });
    const { out } = await taskgate("failures");
    expect(out).toMatch(/3 +mail .*Partner answered 500 for order #/);
  });

  test("the time until all is done is told, or the reason for the delay", async () => {
    const left = (await get("api-pace", { name: "import" })) as Record<string, unknown>;
    // 30 ended within some seconds, three are left.
    expect(left).toMatchObject({ heldUpBy: null, ended: { count: 30 } });
    expect(left["estimatedLeftMs"]).toBeGreaterThan(0);
    expect(left["estimatedLeftMs"]).toBeLessThan(10_000);
    await enqueue(api.store, "paused-before", 2);
    expect(await json("top", "paused-before")).toMatchObject({
      estimatedLeftMs: null,
      heldUpBy: "it is paused",
    });
    expect((await taskgate("top")).out).toContain("unknown: it is paused");
  });

  test("the audit says who changed a limit and a pause, when and why", async () => {
    expect(await get("api-audit", {}, { object: "paused-before" })).toMatchObject({
      entries: [{ actor: "bob", reason: "not ready", action: "pause_definition" }, {}],
    });
    const { out } = await taskgate("audit", "import", "-n", "1");
    expect(out).toMatch(/set_limit +import +limit_override as in code -> 1/);
  });

  test("a hung handler is told with its host and process, a frozen worker by its lease", async () => {
    expect(await get("api-pace", { name: "import" })).toMatchObject({
      running: [{ task: incident.hanging, isSlow: true, worker: host }],
    });
    const { out } = await taskgate("top", "import");
    expect(out).toMatch(new RegExp(`${incident.hanging} +import +slow .*${host}`));
    expect(await get("api-pace", { name: "short-lease" })).toMatchObject({
      running: [{ task: incident.lostTask?.taskId, state: "lost", worker: frozen }],
    });
  });

  test("the age of the oldest ready task is told", async () => {
    const { oldest } = incident;
    const answer = (await get("api-pace", { name: "import" })) as {
      oldestReady: { task: string; ageMs: number };
    };
    expect(answer.oldestReady.task).toBe(oldest);
    expect(answer.oldestReady.ageMs).toBeGreaterThan(1_000);
    const { definitions } = (await json("top")) as {
      definitions: { definition: { name: string }; pace: { oldestReady: { task: string } } }[];
    };
    const found = definitions.find(({ definition }) => definition.name === "import");
    expect(found?.pace.oldestReady.task).toBe(oldest);
  });

  test("a loss is told by the promises that hold, and by leases that are over", async () => {
    const { out } = await api.taskgate("doctor", "--deep");
    expect(out).toMatch(/promises: .*holds/);
    // The promises want the database itself; leases that are over are told by the app, too.
    expect((await api.byUrl("doctor")).out).toMatch(/leases: Executions past their lease: 1;/);
    expect((await taskgate("status")).out).toContain("1 execution past its lease");
    expect(await get("api-status")).toMatchObject({ expired: 1 });
  });

  test("a redrive runs one dead task, those of one error, and all", async () => {
    const like = "Partner answered 500 for order #";
    const body = { definition: "mail", kind: "mail", like };
    const redrive = { route: "api-redrive-failures" };
    expect((await api.call({ ...redrive, body: { ...body, dryRun: true } })).body).toEqual({
      ...{ found: 3, redriven: 0, left: 0, more: false },
    });
    const rare = { ...body, like: "Expected `to` to be an address", dryRun: true };
    expect((await api.call({ ...redrive, body: rare })).body).toMatchObject({ found: 1 });
    const [one = ""] = incident.dead;
    expect((await api.taskgate("redrive", one)).code).toBe(0);
    expect((await api.call({ ...redrive, body: { ...body, reason: "mended" } })).body).toEqual({
      ...{ found: 2, redriven: 2, left: 0, more: false },
    });
    expect((await taskgate("redrive", "mail", "--all", "--like", like, "--yes")).code).toBe(1);
    const other = ["redrive", "mail", "--all", "--like", "Expected `to` to be an address", "-y"];
    const redriven = await api.byUrl(...other, "--json");
    const told = { definition: "mail", found: 1, outcomes: { redriven: 1 }, isStopped: false };
    expect(JSON.parse(redriven.out)).toEqual(told);
    expect(await get("api-failures")).toMatchObject({ groups: [], lookedAt: 0 });
    expect(
      (await api.store.listAudit({ action: "redrive_tasks", max: 1 })).entries[0]?.tasks,
    ).toEqual([asTaskId(incident.dead[3] ?? "")]);
  });

  test("a stop of everything stops all, and a resume starts exactly the stopped parts", async () => {
    expect(await get("api-stop-state")).toEqual({ stop: null });
    const stopped = (await api.call({
      route: "api-stop",
      body: { reason: "the database is being moved" },
    })) as { body: { definitions: string[]; schedules: object[]; left: string[] } };
    const expected = ["grouped", "import", "mail", "reports", "short-lease"];
    const schedules = [{ definition: "reports", name: "nightly" }];
    expect(stopped.body).toEqual({ definitions: expected, schedules, left: [] });
    expect(await get("api-stop-state")).toMatchObject({
      stop: { definitions: expected, schedules, reason: "the database is being moved" },
    });
    const { definitions } = await api.store.listDefinitions({});
    expect(definitions.every(({ paused }) => paused)).toBe(true);
    expect((await taskgate("top")).out).toContain("the database is being moved");
    expect((await taskgate("stop", "--all", "--yes")).out).toContain("Nothing was to be stopped");
    expect((await taskgate("stop")).code).toBe(2);

    api.hints.length = 0;
    const { out, code } = await api.byUrl("resume", "--all");
    expect(code).toBe(0);
    expect(out).toContain("5 definitions and 1 schedule resumed.");
    const after = await api.store.listDefinitions({});
    expect(after.definitions.filter(({ paused }) => paused).map(({ name }) => name)).toEqual([
      "paused-before",
    ]);
    const listed = await api.store.listSchedules({ max: 10 });
    expect(listed.schedules.map(({ name, paused }) => [name, paused])).toEqual([
      ["nightly", false],
      ["off", true],
    ]);
    expect(await get("api-stop-state")).toEqual({ stop: null });
    expect((await taskgate("resume", "--all")).out).toContain("no stop is on");
  });

  test("a stop beside locked definitions and schedules stops all others, and names these until they are stopped", async () => {
    await withClient(api.ownerUrl, async (client) => {
      await client.query("begin");
      await client.query(
        "select 1 from taskgate.task_definition where name in ('import', 'mail') for update",
      );
      await client.query("select 1 from taskgate.schedule for update");
      const far = await api.byUrl("stop", "--all", "--yes", "--json");
      expect(far.code).toBe(1);
      expect(JSON.parse(far.out)).toEqual({
        definitions: ["grouped", "reports", "short-lease"],
        schedules: [],
        left: ["import", "mail", "reports nightly"],
      });
      const near = await api.taskgate("stop", "--all", "--yes");
      expect(near.code).toBe(1);
      expect(near.out).toContain(
        "Locked for too long: import, mail, reports nightly. Repeat the command until none is left.",
      );
      await client.query("rollback");
    });
    // What was sent may still come to its end meanwhile: both ways end alike.
    expect((await api.taskgate("stop", "--all", "--yes")).code).toBe(0);
    expect(await get("api-stop-state")).toMatchObject({
      stop: { definitions: ["grouped", "import", "mail", "reports", "short-lease"] },
    });
  });
});
