import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { runCli } from "../../shared/cli/main";
import { at, enqueue, startWorker, uniqueName } from "../support/builders";
import { withClient } from "../support/test-postgres";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: an operator ends, repeats and moves thousands of tasks of one definition by one command, only those that were meant.
let api: ApiSetup;
let name: string;

beforeAll(async () => {
  api = await setupApi();
}, 60_000);
afterAll(async () => {
  await api.close();
});
beforeEach(async () => {
  name = uniqueName("many");
  await api.register(name, { limit: 1_000, prefetchMax: 0 });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly error: string[];
  readonly asked: string[];
}

/** At a terminal where a person says yes, unless `words` say something else. */
async function run(
  words: readonly string[],
  {
    answer = "y",
    onError = () => undefined,
    pause = () => Promise.resolve(true),
    interrupted,
  }: {
    answer?: string;
    onError?: (text: string) => void;
    pause?: () => Promise<boolean>;
    interrupted?: AbortSignal;
  } = {},
): Promise<Ran> {
  const [out, error, asked]: [string[], string[], string[]] = [[], [], []];
  const code = await runCli({
    words,
    environment: { TASKGATE_DATABASE_URL: api.operatorUrl },
    folder: "/nowhere",
    output: {
      line: (text) => out.push(text),
      error: (text) => {
        error.push(text);
        onError(text);
      },
      columns: null,
    },
    ask: (question) => {
      asked.push(question);
      return Promise.resolve(answer);
    },
    repeater: () => ({ pause, ...(interrupted === undefined ? {} : { interrupted }) }),
  });
  return { code, out: out.join("\n"), error, asked };
}

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ payload: JSON.stringify({ n: from + n }) }));

async function counts(): Promise<Record<string, number>> {
  const { definitions } = await api.store.listDefinitions({ name });
  const { ready, scheduled, waiting, cancelled, dead, claimed } = definitions[0] ?? {};
  return { ready, scheduled, waiting, cancelled, dead, claimed } as Record<string, number>;
}

/** Tasks of `name` that died of these errors, one each, in this order. */
async function dieOf(errors: readonly string[]): Promise<string[]> {
  const ids = await enqueue(api.store, name, numbered(errors.length));
  const worker = await startWorker(api.store, name, { want: errors.length });
  for (const error of errors) await worker.fail(await worker.claim(1), { as: "dead", error });
  await worker.finish();
  return ids;
}

describe("the option --error", () => {
  const refusals = [1, 2, 3].map((order) => `partner answers 400 for order ${String(order)}`);
  const outages = [4, 5].map((order) => `partner answers 503 for order ${String(order)}`);

  test("the command redrive --all --error takes the tasks with this text in their error, and no others", async () => {
    await dieOf([...refusals, ...outages]);
    const dry = await run(["redrive", name, "--all", "--error", "503", "--dry-run"]);
    expect(dry.out).toMatch(/^There are 2 tasks/);
    const { code } = await run(["redrive", name, "--all", "--error", "503"]);
    expect(code).toBe(0);
    expect(await counts()).toMatchObject({ dead: 3, ready: 2 });
    const none = await run(["redrive", name, "--all", "--error", ""]);
    expect([none.code, none.error.join()]).toEqual([2, expect.stringContaining("--error")]);
    const ofId = await run(["redrive", "17", "--error", "503"]);
    expect([ofId.code, ofId.error.join()]).toEqual([2, expect.stringContaining("--all")]);
  });

  test("the command redrive --all --like takes one of two errors that differ in their status", async () => {
    await dieOf([...refusals, ...outages]);
    const { out } = await run(["failures", name]);
    expect(out).toMatch(
      /3 .*partner answers 400 for order #\n.*2 .*partner answers 503 for order #/,
    );
    const like = "partner answers 503 for order #";
    expect((await run(["redrive", name, "--all", "--like", like])).code).toBe(0);
    expect(await counts()).toMatchObject({ dead: 3, ready: 2 });
  });

  test("the command cancel --all --error ends the tasks that wait with this error", async () => {
    await enqueue(api.store, name, numbered(3));
    const worker = await startWorker(api.store, name, { want: 2 });
    const [first, second] = await worker.claim(2);
    if (first === undefined || second === undefined) throw new Error("no task was claimed");
    await worker.fail([first], { as: "failed", error: "partner answers 400" });
    await worker.fail([second], { as: "failed", error: "partner answers 503" });
    await worker.finish();
    expect((await run(["cancel", name, "--all", "--error", "answers 400"])).code).toBe(0);
    expect(await counts()).toMatchObject({ cancelled: 1 });
  });

  test("GET tasks with `error` finds the tasks with this text, page by page", async () => {
    const ids = await dieOf([...refusals, ...outages]);
    const ask = async (query: Record<string, string>) =>
      (await api.call({ route: "api-tasks", params: { name }, query })).body as {
        tasks: { task: string }[];
        cursor: string | null;
        lookedAt: number;
      };
    const whole = await ask({ error: "answers 400" });
    expect(whole.tasks.map(({ task }) => task)).toEqual([ids[2], ids[1], ids[0]]);
    expect(whole).toMatchObject({ cursor: null, lookedAt: 5 });
    const first = await ask({ error: "answers 400", max: "2" });
    expect(first.tasks.map(({ task }) => task)).toEqual([ids[2], ids[1]]);
    expect(first.lookedAt).toBe(4);
    const second = await ask({ error: "answers 400", max: "2", cursor: first.cursor ?? "" });
    expect(second).toMatchObject({ tasks: [{ task: ids[0] }], cursor: null });
    const other = { error: "answers 503", max: "2", cursor: first.cursor ?? "" };
    expect(await ask(other)).toMatchObject({ status: 400 });
  });
});

describe("taskgate cancel NAME --all", () => {
  test("the command cancel --all ends the tasks that were added twice, and no task of another definition or of before", async () => {
    const other = uniqueName("other");
    await api.register(other);
    await enqueue(api.store, other, 3);
    await enqueue(api.store, name, numbered(1_500));
    const [first] = await enqueue(api.store, name, numbered(2_400));
    const facts = await api.store.explainTask({ taskId: at([first], 0) as never });
    const since = facts.facts?.createdAt ?? "";

    const dry = await run(["cancel", name, "--all", "--since", since, "--dry-run"]);
    expect(dry.out).toMatch(
      new RegExp(
        `^There are 2400 tasks of ${name}, added (at|between) .*\\. Nothing was changed\\.$`,
      ),
    );
    expect(dry.asked).toEqual([]);
    const refused = await run(["cancel", name, "--all", "--since", since], { answer: "n" });
    expect(refused).toMatchObject({ code: 1, error: [expect.any(String), "Nothing was changed."] });
    expect(await counts()).toMatchObject({ ready: 3_900, cancelled: 0 });

    const done = await run(["cancel", name, "--all", "--since", since, "-r", "added twice"]);
    expect(done).toMatchObject({ code: 0, out: "2400 tasks are cancelled." });
    expect(done.asked).toEqual([
      expect.stringMatching(/^Cancels 2400 tasks of .*\. A waiting task ends for good/),
    ]);
    expect(await counts()).toMatchObject({ ready: 1_500, cancelled: 2_400 });
    expect((await api.store.listDefinitions({ name: other })).definitions[0]?.ready).toBe(3);
  });

  test("the command cancel --all takes ready, scheduled and waiting tasks, and running ones where --state says so", async () => {
    await enqueue(api.store, name, 2);
    const worker = await startWorker(api.store, name, { want: 1 });
    await worker.claim(1);
    await enqueue(api.store, name, [
      { runInMs: 3_600_000 },
      { group: "a" },
      { group: "a" },
      { kind: "mail" },
    ]);
    expect((await run(["cancel", name, "--all", "--kind", "mail"])).out).toBe(
      "1 task is cancelled.",
    );
    expect((await run(["cancel", name, "--all", "--group", "a"])).out).toBe(
      "2 tasks are cancelled.",
    );
    const rest = await run(["cancel", name, "--all", "--json"]);
    expect(JSON.parse(rest.out)).toEqual({
      ...{ definition: name, found: 2, outcomes: { cancelled: 2 }, isStopped: false },
    });
    expect(await counts()).toMatchObject({ ready: 0, scheduled: 0, waiting: 0, claimed: 1 });
    const running = await run(["cancel", name, "--all", "--state", "claimed"]);
    expect(running).toMatchObject({ code: 0, out: "1 task runs and was asked to end." });
    expect(await run(["cancel", name, "--all"])).toMatchObject({
      ...{ code: 0, out: `There is no such task of ${name}.`, asked: [] },
    });
  });

  test("the command cancel --all asks again for a task that is locked at this moment, and tells one that stays locked", async () => {
    const [task = ""] = await enqueue(api.store, name, 3);
    await withClient(api.ownerUrl, async (client) => {
      const lock = async (): Promise<void> => {
        await client.query("begin");
        for (const table of ["ready", "task"])
          await client.query(`select from taskgate.${table} where task_id = $1 for update`, [task]);
      };
      await lock();
      const stays = await run(["cancel", name, "--all"]);
      expect(stays).toMatchObject({
        ...{ code: 1, out: expect.stringContaining("2 tasks are cancelled.\n") },
      });
      expect(stays.out).toContain(`1 task is locked at this moment, ask again: ${task}`);
      await client.query("rollback");
      await lock();
      const pause = async (): Promise<boolean> => {
        await client.query("rollback");
        return true;
      };
      expect(await run(["cancel", name, "--all"], { pause })).toMatchObject({
        ...{ code: 0, out: "1 task is cancelled." },
      });
    });
  });

  test("the command cancel --all ends at Ctrl+C between two calls and says what it has done", async () => {
    await enqueue(api.store, name, numbered(2_500));
    const stop = new AbortController();
    const onError = (text: string): void => {
      if (text.includes("1000 of 2500")) stop.abort();
    };
    const stopped = await run(["cancel", name, "--all"], { onError, interrupted: stop.signal });
    expect(stopped).toMatchObject({
      ...{ code: 130, out: "1000 tasks are cancelled.\nStopped; the others are as they were." },
    });
    expect(await counts()).toMatchObject({ ready: 1_500, cancelled: 1_000 });
  });

  test("the command cancel --all does the same by the address of an app", async () => {
    await enqueue(api.store, name, numbered(1_200));
    const where = await api.byUrl("cancel", name, "--all", "--where", "n=7");
    expect(where.out).toContain("1 task is cancelled.");
    const all = await api.byUrl("cancel", name, "--all");
    expect(all.out).toContain("1199 tasks are cancelled.");
  });
});

describe("taskgate redrive NAME --all", () => {
  /** Tasks that died one after the other, the first half of one error. */
  async function die(count: number): Promise<void> {
    for (let from = 0; from < count; from += 1_000)
      await enqueue(api.store, name, numbered(Math.min(1_000, count - from), from));
    const half = count / 2;
    const worker = await startWorker(api.store, name, { want: Math.min(half, 500) });
    for (const error of ["Error: order 7 is refused", "Error: no stock"]) {
      for (let left = half; left > 0; left -= 500)
        await worker.fail(await worker.claim(Math.min(left, 500)), { as: "dead", error });
    }
    await worker.finish();
  }

  test("the command redrive --all runs all dead tasks again, also more than one call takes, the oldest first", async () => {
    for (let round = 0; round < 3; round += 1) await die(500);
    const done = await run(["redrive", name, "--all"]);
    expect(done).toMatchObject({ code: 0, out: "1500 tasks will run again." });
    expect(done.asked).toEqual([expect.stringMatching(/^Retries 1500 tasks of /)]);
    const { tasks } = await api.store.listTasks({ name, state: "ready", max: 1_000 });
    const ids = tasks.map(({ task }) => Number(task));
    expect(ids.slice(0, 250).every((id) => id <= (ids[250] ?? 0))).toBe(true);
  });

  test("the command redrive --all finds the tasks of an error behind thousands that died later of another one, and so does the API", async () => {
    await die(10_400);
    const like = "Error: order # is refused";
    const body = { definition: name, kind: name, like };
    const redrive = { route: "api-redrive-failures" };
    expect((await api.call({ ...redrive, body: { ...body, dryRun: true } })).body).toEqual({
      ...{ found: 5_200, redriven: 0, left: 0, more: false },
    });
    const oldest = await run(["redrive", name, "--all", "--like", like, "-n", "3000"]);
    expect(oldest.out).toBe("3000 tasks will run again.");
    expect((await api.call({ ...redrive, body })).body).toMatchObject({ redriven: 2_200, left: 0 });
    expect(await counts()).toMatchObject({ dead: 5_200, ready: 5_200 });
  });

  test("the command redrive --all takes those of one error, of a payload, or the oldest few", async () => {
    await die(20);
    const like = ["redrive", name, "--all", "--like", "Error: order # is refused"];
    expect((await run([...like, "--where", "n=3"])).out).toBe("1 task will run again.");
    expect((await run([...like, "-n", "2"])).out).toBe("2 tasks will run again.");
    expect((await run(like)).out).toBe("7 tasks will run again.");
    expect(await run(like)).toMatchObject({
      code: 1,
      out: "No dead task has this error. --like wants a whole line of the errors of `taskgate failures`.",
    });
    expect(await counts()).toMatchObject({ dead: 10, ready: 10 });
  });
});

describe("taskgate reschedule WHEN NAME --all", () => {
  test("the command reschedule --all brings delayed tasks forward and leaves ready ones alone", async () => {
    await enqueue(api.store, name, [{}, { runInMs: 86_400_000 }, { runInMs: 86_400_000 }]);
    const done = await run(["reschedule", "now", name, "--all"]);
    expect(done).toMatchObject({ code: 0, out: "2 tasks are rescheduled." });
    expect(done.asked).toEqual([
      expect.stringMatching(/^Reschedules 2 tasks .* They may start now\./),
    ]);
    const later = await run(["reschedule", "10m", name, "--all", "--state", "ready"]);
    expect(later.out).toBe("1 task is rescheduled.");
    expect(later.asked).toEqual([expect.stringContaining("They may start in 10m.")]);
  });
});
