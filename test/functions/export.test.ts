import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { exportedLine, taskOfExported } from "../../shared/cli/exported-task";
import { runCli } from "../../shared/cli/main";
import type { TaskFacts } from "../../shared/ports/task-store";
import { at, done, enqueue, startWorker, uniqueName } from "../support/builders";
import { withClient } from "../support/test-postgres";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

// Goal: `taskgate export` writes tasks with all that they hold, and `taskgate enqueue --from` makes the same ones again.
let api: ApiSetup;
let folder: string;
let name: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "taskgate-export-"));
  api = await setupApi();
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});
beforeEach(async () => {
  name = uniqueName("export");
  await api.register(name);
});

type Line = Record<string, unknown>;

async function run(
  words: readonly string[],
  interrupted?: AbortSignal,
): Promise<{ code: number; lines: Line[]; out: string[]; error: string[] }> {
  const [out, error]: [string[], string[]] = [[], []];
  const code = await runCli({
    words,
    environment: { TASKGATE_DATABASE_URL: api.operatorUrl },
    folder,
    output: { line: (text) => out.push(text), error: (text) => error.push(text), columns: null },
    repeater: () => ({
      pause: () => Promise.resolve(false),
      ...(interrupted === undefined ? {} : { interrupted }),
    }),
  });
  const lines = out.filter((text) => text.startsWith("{")).map((text) => JSON.parse(text) as Line);
  return { code, lines, out, error };
}

/** Tasks in four states. */
async function scene(): Promise<void> {
  const { store } = api;
  await enqueue(store, name, [{ payload: '{"n":1}' }, { payload: '{"n":2}' }]);
  const worker = await startWorker(store, name, { want: 2 });
  const claimed = await worker.claim(2);
  await worker.work({ done: [done(at(claimed, 0), { result: '{"ok":true}' })] });
  await worker.fail([at(claimed, 1)], { as: "dead" });
  await worker.finish();
  await enqueue(store, name, [
    { payload: "[3]", kind: "mail", priority: 7, dedupeKey: "k3" },
    { payload: '{"n":4}', group: "eu" },
    { payload: null, runInMs: 3_600_000 },
  ]);
}

/** Dead tasks with these errors, the first the oldest. */
async function deadWith(errors: readonly string[]): Promise<string[]> {
  const payloads = errors.map((_, index) => ({ payload: `{"n":${String(index)}}` }));
  const ids = await enqueue(api.store, name, payloads);
  const worker = await startWorker(api.store, name, { want: 1 });
  for (const error of errors) await worker.fail([await worker.claimOne()], { as: "dead", error });
  await worker.finish();
  return ids;
}

describe("tasks by the text of their error", () => {
  const errors = [
    "Error: timed out",
    "Error: 404",
    "Error: it timed out again",
    "Error: Timed out",
  ];

  test("the tasks with an error's text are exported, newest first, and counted as left out where there are more than --max", async () => {
    const ids = await deadWith(errors);
    const filter = ["--state", "dead", "--error", "timed out"];
    const all = await run(["export", name, ...filter]);
    expect([all.code, all.lines.map(({ task }) => task)]).toEqual([0, [at(ids, 2), at(ids, 0)]]);
    const one = await run(["export", name, ...filter, "--max", "1"]);
    expect(one.lines.map(({ task }) => task)).toEqual([at(ids, 2)]);
    expect(one.error.join("\n")).toContain("dead");
    const none = await run(["export", name, ...filter, "--ended-before", "2000-01-01T00:00:00Z"]);
    expect(none.lines).toEqual([]);
    const where = await run(["export", name, "--state", "dead", "--where", "n=1"]);
    expect(where.lines.map(({ task }) => task)).toEqual([at(ids, 1)]);
  });

  test("the tasks with an error's text are listed with the tasks that were looked at", async () => {
    const ids = await deadWith(errors);
    const words = ["tasks", name, "--state", "dead", "--error", "timed out"];
    const whole = JSON.parse((await run([...words, "--json"])).out.join("\n")) as Line;
    expect(whole).toMatchObject({
      tasks: [{ task: at(ids, 2) }, { task: at(ids, 0) }],
      more: false,
    });
    const first = JSON.parse((await run([...words, "-n", "1", "--json"])).out.join("\n")) as Line;
    expect(first).toMatchObject({ tasks: [{ task: at(ids, 2) }], more: true });
    const { out } = await run(["tasks", name, "--error", "no such text"]);
    expect(out.join("\n")).toBe(`No such task of ${name} was found.`);
  });
});

describe("taskgate export", () => {
  test("the command export without a terminal says how far it is at most every 30 s", async () => {
    await enqueue(api.store, name, 40);
    const { error } = await run(["export", name]);
    expect(error).toEqual([
      expect.stringMatching(/^\S+ +20 % {2}8 tasks$/),
      `40 tasks of ${name} are written.`,
    ]);
  });

  test("the command export writes payload, result and error of tasks of every state, and says how many", async () => {
    await scene();
    const { code, lines, error } = await run(["export", name]);
    expect(code).toBe(0);
    expect(error.at(-1)).toBe(`5 tasks of ${name} are written.`);
    expect(lines).toMatchObject([
      {
        definition: name,
        state: "ready",
        kind: "mail",
        priority: 7,
        dedupeKey: "k3",
        payload: [3],
      },
      { state: "ready", group: "eu", payload: { n: 4 } },
      { state: "scheduled", payload: null },
      { state: "done", payload: { n: 1 }, result: { ok: true }, failedCount: 0 },
      { state: "dead", payload: { n: 2 }, error: "it broke", failedCount: 1 },
    ]);
    expect(lines[1]).not.toHaveProperty("groupScope");
    expect(lines[3]?.["endedAt"]).toMatch(/^\d{4}-/);
  });

  test("the command export writes the states that are asked for, and with --json nothing but lines", async () => {
    await scene();
    const { lines, error } = await run(["export", name, "-s", "dead", "-s", "done", "--json"]);
    expect(lines.map(({ state }) => state)).toEqual(["dead", "done"]);
    expect(error).toEqual([]);
  });

  test("the option --to writes a file of its owner's, and never over another one", async () => {
    await scene();
    const path = join(folder, `${name}.ndjson`);
    const { code, out } = await run(["export", name, "--to", path]);
    expect([code, out]).toEqual([0, [`5 tasks of ${name} are written to ${path}.`]]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(5);
    const again = await run(["export", name, "--to", path]);
    expect(again.code).toBe(2);
    expect(again.error.join("\n")).toContain(
      "expected a file that can be made and isn't there yet",
    );
    expect(readFileSync(path, "utf8").trim().split("\n")).toHaveLength(5);
  });

  test("the command export writes all tasks of a state, however many; --max is a choice", async () => {
    await enqueue(api.store, name, 2_003);
    const few = await run(["export", name, "-s", "ready", "-n", "2"]);
    expect([few.code, few.lines.length]).toEqual([0, 2]);
    expect(few.error.at(-1)).toContain("There are more of these states: ready.");
    const path = join(folder, `${name}.ndjson`);
    const { code, lines } = await run(["export", name, "--to", path, "--json"]);
    expect(code).toBe(0);
    expect(lines).toEqual([
      { definition: name, file: path, tasks: 2_003, left: 0, cut: [], isStopped: false },
    ]);
    const written = readFileSync(path, "utf8").trim().split("\n");
    const ids = written.map((text) => (JSON.parse(text) as Line)["task"]);
    expect(new Set(ids).size).toBe(2_003);
    for (const max of ["0", "x", "1000001"]) {
      const refused = await run(["export", name, "--max", max]);
      expect([refused.code, refused.error.join(" ")]).toEqual([
        2,
        expect.stringContaining("expected a whole number in 1..1000000"),
      ]);
    }
  });

  test("Ctrl+C ends it with whole lines and 130", async () => {
    await enqueue(api.store, name, 20);
    const { code, error } = await run(["export", name], AbortSignal.abort());
    expect([code, error]).toEqual([
      130,
      [`0 tasks of ${name} are written. Stopped before the end.`],
    ]);
  });

  test("an unknown definition is refused, and no file is made", async () => {
    const path = join(folder, `${name}.ndjson`);
    const { code, error } = await run(["export", `${name}x`, "--to", path]);
    expect(code).toBe(3);
    expect(error.join("\n")).toContain(`did you mean \`${name}\``);
    expect(() => statSync(path)).toThrow("ENOENT");
  });
});

describe("enqueue --from a file of an export", () => {
  test("the command enqueue --from a file of an export makes the same tasks again, and options win over the lines", async () => {
    await scene();
    const path = join(folder, `${name}.ndjson`);
    await run(["export", name, "--to", path]);
    const scheduled = await api.store.listTasks({ name, state: "scheduled", max: 1 });
    const dueAt = scheduled.tasks[0]?.dueAt;
    const other = uniqueName("copy");
    await api.register(other);
    expect((await run(["enqueue", other, "--from", path])).code).toBe(0);
    const copied = await run(["export", other, "--json"]);
    expect(copied.lines).toMatchObject([
      { state: "ready", kind: "mail", priority: 7, dedupeKey: "k3", payload: [3] },
      { state: "ready", kind: name, priority: 100, group: "eu", payload: { n: 4 } },
      { state: "ready", kind: name, payload: { n: 1 } },
      { state: "ready", kind: name, payload: { n: 2 } },
      { state: "scheduled", kind: name, payload: null, runAt: dueAt },
    ]);
    const later = uniqueName("copy");
    await api.register(later);
    await run(["enqueue", later, "--from", path, "--run-in", "2h"]);
    const delayed = (await run(["export", later, "--json"])).lines;
    expect(delayed.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => "scheduled"));
    expect(delayed.every(({ runAt }) => String(runAt) > String(dueAt))).toBe(true);
    const third = uniqueName("copy");
    await api.register(third);
    const options = ["--kind", "letter", "--priority", "9", "--no-group", "--run-in", "1ms"];
    await run(["enqueue", third, "--from", path, ...options]);
    const { lines } = await run(["export", third, "--json"]);
    expect(lines.map(({ kind, priority, group }) => [kind, priority, group])).toEqual(
      Array.from({ length: 5 }, () => ["letter", 9, undefined]),
    );
  });

  test("numbers and line breaks of a payload that SQL has written stay as they are", async () => {
    await enqueue(api.store, name, 1);
    const payload = '{\n  "n": 1.50,\r\n  "t": "a\\nb"\n}';
    await withClient(api.ownerUrl, (client) =>
      client.query(
        `update taskgate.task t set payload = $1 from taskgate.task_definition d
          where d.task_definition_id = t.task_definition_id and d.name = $2`,
        [payload, name],
      ),
    );
    const { out } = await run(["export", name, "--json"]);
    expect(out[0]).toContain('"payload":{   "n": 1.50,   "t": "a\\nb" }}');
  });

  test("only a line with the members of an export is one", () => {
    const facts = { task: "1", definition: "d", kind: "k", state: "dead", payload: "[1]" };
    const line = JSON.parse(exportedLine(facts as TaskFacts)) as object;
    expect(taskOfExported(line)).toEqual({ payload: [1], kind: "k" });
    expect(taskOfExported({ payload: [1] })).toBeNull();
    for (const other of [null, 5, [], { task: "1", payload: [1] }])
      expect(taskOfExported(other)).toBeNull();
  });
});

test("a file that isn't an export is a list of payloads", async () => {
  const path = join(folder, `${name}.ndjson`);
  writeFileSync(path, '{"payload":{"n":1}}\n');
  await run(["enqueue", name, "--from", path]);
  const { lines } = await run(["export", name, "--json"]);
  expect(lines).toMatchObject([{ payload: { payload: { n: 1 } } }]);
});
