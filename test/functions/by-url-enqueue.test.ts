import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { enqueue, uniqueName } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

/*
 * Goal: tasks that go through an app's address are those of the file, each once, however large the file is; and lists of the greatest
 * length are the same as with a database. Method: files beyond the bounds of a request, compared with what the database holds.
 */
let api: ApiSetup;
let folder: string;
let name = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "taskgate-by-url-"));
  api = await setupApi();
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});
beforeEach(async () => {
  name = uniqueName("import");
  await api.register(name);
});

function fileOf(fileName: string, text: string): string {
  const path = join(folder, fileName);
  writeFileSync(path, text);
  return path;
}

/** Payloads of the ready tasks, by id. */
async function payloads(): Promise<unknown[]> {
  const { out } = await api.taskgate("export", name, "--state", "ready");
  const lines = out.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => (JSON.parse(line) as { payload: unknown }).payload);
}

interface Step {
  readonly calls: number;
  readonly lines: number;
  readonly enqueued: number;
  readonly state: string;
}

async function enqueueFrom(path: string, ...words: readonly string[]): Promise<Step[]> {
  const { code, out } = await api.byUrl("enqueue", name, "--from", path, "--json", ...words);
  expect([code, out]).toEqual([0, expect.anything()]);
  return out.split("\n").map((line) => JSON.parse(line) as Step);
}

describe("enqueue --from by an app's address", () => {
  test("the command enqueue --from cuts a slice that is too long for a request, and adds each line once", async () => {
    // A thousand lines are less than 2 MiB as CSV, and more as JSON with the names of their fields.
    const field = "a-field-with-a-very-long-name-".repeat(30);
    const rows = Array.from({ length: 900 }, (_, at) => `${String(at)},${"x".repeat(1_800)}`);
    const path = fileOf("long.csv", ["id," + field, ...rows].join("\n"));
    const steps = await enqueueFrom(path, "--key-field", "id");
    expect(steps.map(({ enqueued, lines }) => [enqueued, lines])).toEqual([
      [450, 451],
      [900, 901],
      [900, 901],
    ]);
    const ids = (await payloads()).map((payload) => Number((payload as { id: string }).id));
    expect(ids).toEqual(rows.map((_, at) => at));
    // A repeat adds none.
    expect((await enqueueFrom(path, "--key-field", "id")).at(-1)).toMatchObject({ enqueued: 0 });
  }, 60_000);

  test("the command enqueue --from cuts a slice of too many values for a request", async () => {
    const wide = JSON.stringify(Array.from({ length: 500 }, () => 1));
    const path = fileOf("wide.ndjson", Array.from({ length: 500 }, () => wide).join("\n"));
    const steps = await enqueueFrom(path);
    expect(steps.map(({ enqueued }) => enqueued)).toEqual([250, 500, 500]);
    expect(await payloads()).toHaveLength(500);
  }, 60_000);

  test("the command enqueue --from names the line that the app refuses, and says up to which line all are in", async () => {
    const path = fileOf("bad.ndjson", '{"id":1}\n{"id":2}\n7\n');
    const { code, out } = await api.byUrl("enqueue", name, "--from", path);
    expect([code, out]).toEqual([2, expect.stringMatching(/line 3\.payload: got 7/)]);
    expect(await payloads()).toEqual([]);
  });
});

test("enqueue --file by an app's address refuses a list that is too long for a request, with the way there is", async () => {
  const line = JSON.stringify({ text: "x".repeat(3_000) });
  const path = fileOf("many.jsonl", Array.from({ length: 800 }, () => line).join("\n"));
  const { code, out } = await api.byUrl("enqueue", name, "--file", path);
  expect(code).toBe(2);
  expect(out).toMatch(/tasks: got 800 tasks of \d+ bytes, expected at most 2097152 bytes .*--from/);
  expect(await payloads()).toEqual([]);
  expect((await api.taskgate("enqueue", name, "--file", path)).code).toBe(0);
});

test("an enqueued payload, its key, group and instant are those of the words", async () => {
  const texts = ['é\u2028"\\', "<&>", "__proto__"];
  const payload = { list: [1.5, -0.25, 1e24, true, null], texts, ["__proto__x"]: {} };
  const words = [
    ...["enqueue", name, "--payload", JSON.stringify(payload), "--priority", "-5"],
    ...["--dedupe-key", "k é", "--run-at", "2090-01-31T08:30:00+01:00"],
  ];
  const facts = async (run: ApiSetup["taskgate"], id: string) =>
    (JSON.parse((await run("explain", id, "--json")).out) as { facts: Record<string, unknown> })
      .facts;
  const { out } = await api.byUrl(...words, "--json");
  const [added] = (JSON.parse(out) as { tasks: { task: string; outcome: string }[] }).tasks;
  expect(added?.outcome).toBe("enqueued");
  const id = added?.task ?? "";
  const byUrl = await facts(api.byUrl, id);
  // It falls with each moment.
  const later = { dueInMs: expect.any(Number) };
  expect(byUrl).toEqual({ ...(await facts(api.taskgate, id)), ...later });
  expect(byUrl).toMatchObject({
    payload: JSON.stringify(payload),
    priority: -5,
    dedupeKey: "k é",
  });
  const { out: listed } = await api.byUrl("tasks", name, "--state", "scheduled", "--json");
  expect(JSON.parse(listed)).toMatchObject({ tasks: [{ dueAt: "2090-01-31T07:30:00.000Z" }] });
  const again = await api.byUrl(...words, "--replace");
  expect(again.out).toBe(`Task ${id} has that dedupe key already; it carries the new payload.`);
  await api.byUrl("enqueue", name, "--group", "g/1 %2F");
  const { out: groups } = await api.byUrl("groups", name, "--json");
  expect(JSON.parse(groups)).toMatchObject({ groups: [{ key: "g/1 %2F" }] });
});

test("a list of a thousand rows is the same text as with a database", async () => {
  await enqueue(api.store, name, 1_001);
  const words = ["tasks", name, "--max", "1000", "--json"];
  const [near, far] = [await api.taskgate(...words), await api.byUrl(...words)];
  expect(far).toEqual(near);
  const { tasks, more } = JSON.parse(far.out) as { tasks: object[]; more: boolean };
  expect([tasks.length, more]).toEqual([1_000, true]);
  const oldest = ["tasks", name, "--oldest", "-n", "3", "--json"];
  const idsOf = (text: string) =>
    (JSON.parse(text) as { tasks: { task: string }[] }).tasks.map(({ task }) => task);
  expect(idsOf((await api.byUrl(...oldest)).out)).toEqual(
    idsOf((await api.taskgate(...oldest)).out),
  );
});

test("the names with slashes, blanks and signs of an address reach the app as they are", async () => {
  for (const odd of ["a/b c", "100%", "ü?x=1&y#z", "a+b", "...", "%2e%2e"]) {
    await api.register(odd);
    expect(await api.byUrl("limit", odd, "7", "--json")).toMatchObject({ code: 0 });
    const [found] = await api.admin.definitions(odd);
    expect([odd, found?.limit]).toEqual([odd, 7]);
  }
});
