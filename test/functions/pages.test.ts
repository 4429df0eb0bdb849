import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { filled } from "../contract/batch-builders";
import { schedule, setAll } from "../contract/schedule-builders";
import { define, enqueue, operationId, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiRequest, ApiSetup } from "./api-setup";

/*
 * Goal: a reader who follows cursors sees each row that stays, once. Every list is walked while rows come, go and change
 * their places; cursors of other lists and filters are refused.
 */
let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
});
afterAll(() => api.close());

type Row = Record<string, unknown>;
type Page = Record<string, unknown> & { more: boolean; cursor: string | null };

async function ask(request: ApiRequest): Promise<Page> {
  const { status, body } = await api.call(request);
  expect([request, status, body]).toEqual([request, 200, expect.anything()]);
  return body as Page;
}

/** All rows of a list, page by page; `between` runs after each page. */
async function walk(
  request: ApiRequest,
  member: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | null = "", pages = 0; cursor !== null && pages < 60; pages += 1) {
    const query = { ...request.query, ...(cursor === "" ? {} : { cursor }) };
    const page: Page = await ask({ ...request, query });
    rows.push(...(page[member] as Row[]));
    expect(page.more).toBe(page.cursor !== null);
    cursor = page.cursor;
    await between();
  }
  return rows;
}

describe("tasks", () => {
  test("the ready tasks are shown once each while some are claimed and others come in front", async () => {
    const name = await define(api.store, { limit: 50, prefetchMax: 0 });
    const ids = await enqueue(api.store, name, 12);
    const worker = await startWorker(api.store, name, { want: 20 });
    const request = { route: "api-tasks", params: { name }, query: { max: "3" } };
    const rows = await walk(request, "tasks", async () => {
      await worker.claim(1);
      await enqueue(api.store, name, [{ priority: 1 }]);
    });
    await worker.finish();
    const shown = rows.map(({ task }) => task);
    expect(new Set(shown).size).toBe(shown.length);
    // The claimed ones were the first of the list.
    expect(ids.slice(-6).filter((id) => !shown.includes(id))).toEqual([]);
  });

  test("the dead tasks are shown once each while others die", async () => {
    const name = await define(api.store, { limit: 50 });
    await enqueue(api.store, name, 12);
    const worker = await startWorker(api.store, name, { want: 20 });
    const first = await worker.claim(7);
    const later = await worker.claim(5);
    await worker.fail(first, { as: "dead" });
    const query = { state: "dead", max: "2" };
    const rows = await walk({ route: "api-tasks", params: { name }, query }, "tasks", async () => {
      const next = later.pop();
      if (next !== undefined) await worker.fail([next], { as: "dead" });
    });
    await worker.finish();
    const shown = rows.map(({ task }) => task);
    expect(new Set(shown).size).toBe(shown.length);
    expect(first.filter(({ taskId }) => !shown.includes(taskId))).toEqual([]);
  });
});

test("groups are shown once each while they get waiting tasks and lose them", async () => {
  const name = await define(api.store);
  const keys = Array.from({ length: 9 }, (_, at) => `g${String(at)}`);
  for (const key of keys)
    await api.call({ route: "api-group", params: { name }, body: { key, slots: 1 } });
  const last = keys.toReversed();
  const query = { definition: name, max: "2" };
  const rows = await walk({ route: "api-groups", query }, "groups", async () => {
    // It moves to the front of the list.
    const group = last.shift() ?? "g0";
    await enqueue(api.store, name, [{ group }, { group }]);
  });
  expect(rows.map(({ key }) => key).sort()).toEqual(keys);
});

test("failures are shown once each while their sums change", async () => {
  const name = await define(api.store, { limit: 90 });
  const worker = await startWorker(api.store, name, { want: 50 });
  const words = ["alpha", "bravo", "carol", "delta", "echo"];
  const die = async (error: string, count: number) => {
    await enqueue(api.store, name, count);
    await worker.fail(await worker.claim(count), { as: "dead", error });
  };
  for (const [at, word] of words.entries()) await die(word, at + 1);
  const query = { definition: name, max: "2" };
  const rows = await walk({ route: "api-failures", query }, "groups", () => die("alpha", 4));
  await worker.finish();
  expect(rows.map(({ like }) => like).sort()).toEqual(words);
});

test("executions, schedules, watermarks and shared limits are shown once each", async () => {
  const sharedLimits = ["one", "two", "three"].map((name) => ({ name: `pages-${name}`, limit: 1 }));
  const name = await define(api.store, { limit: 50, sharedLimits });
  const five = Array.from({ length: 5 }, (_, at) => `n${String(at)}`);
  await setAll(
    api.store,
    name,
    five.map((each) => schedule({ name: each, kind: name })),
  );
  for (const watermark of five)
    await api.call({ route: "api-watermark", params: { name }, body: { watermark, value: [1] } });
  await enqueue(api.store, name, 3);
  for (let run = 0; run < 3; run += 1) await (await startWorker(api.store, name)).finish();
  const query = { definition: name, max: "2" };
  const countOf = async (route: string, member: string, more: Record<string, string> = {}) =>
    (await walk({ route, query: { ...query, ...more } }, member)).length;
  expect(await countOf("api-schedules", "schedules")).toBe(5);
  expect(await countOf("api-watermarks", "watermarks")).toBe(5);
  expect(await countOf("api-executions", "executions", { open: "false" })).toBe(3);
  const limits = await walk({ route: "api-shared-limits", query: { max: "1" } }, "sharedLimits");
  expect(limits.map((row) => row["name"])).toEqual(["pages-one", "pages-three", "pages-two"]);
});

test("the audit is walked to its end over entries of one millisecond, while others come", async () => {
  const name = await define(api.store);
  const moved = await enqueue(api.store, name, 23);
  // Calls at the same time share instants.
  await Promise.all(
    moved.map((task) => api.store.cancelTasks({ taskIds: [task], changedBy: "pages" })),
  );
  const query = { actor: "pages", max: "4" };
  const rows = await walk({ route: "api-audit", query }, "entries", async () => {
    const [task] = await enqueue(api.store, name, 1);
    await api.store.cancelTasks({ taskIds: [task ?? (moved[0] as never)], changedBy: "pages" });
  });
  const shown = rows.flatMap((row) => row["tasks"] as string[]);
  expect(new Set(shown).size).toBe(shown.length);
  expect(moved.filter((task) => !shown.includes(task))).toEqual([]);
});

test("batches are walked to their end beyond the longest page", async () => {
  const name = await define(api.store);
  const first = await filled(api.store, name, { counts: [1] });
  for (let made = 0; made < 4; made += 1) await filled(api.store, name, { counts: [1] });
  const rows = await walk({ route: "api-batches", query: { max: "2" } }, "batches", () =>
    filled(api.store, name, { counts: [1] }),
  );
  expect(rows.map(({ batch }) => batch)).toHaveLength(5);
  expect(rows.at(-1)?.["batch"]).toBe(String(first.batchId));
});

describe("a cursor", () => {
  const cursorOf = async (request: ApiRequest): Promise<string> =>
    (await ask(request)).cursor ?? "";

  test("a cursor is null behind the thousandth row, and `more` tells of the rest", async () => {
    const name = await define(api.store);
    const groups = Array.from({ length: 1_001 }, (_, at) => ({ group: `g${String(at)}` }));
    await enqueue(api.store, name, groups);
    const query = { definition: name, max: "600" };
    const first = await ask({ route: "api-groups", query });
    const cursor = first.cursor ?? "";
    const second = await ask({ route: "api-groups", query: { ...query, cursor } });
    expect(second).toMatchObject({ more: true, cursor: null });
    expect(second["groups"]).toHaveLength(400);
  });

  test("a cursor of tasks leads beyond the thousandth one, to the last", async () => {
    const name = await define(api.store);
    const ids = await enqueue(api.store, name, 2_500);
    const query = { max: "900" };
    const rows = await walk({ route: "api-tasks", params: { name }, query }, "tasks");
    expect(rows.map(({ task }) => task)).toEqual(ids);
  });

  test("a cursor of tasks of several states leads from one state to the next", async () => {
    const name = await define(api.store);
    const ready = await enqueue(api.store, name, 3);
    const scheduled = await enqueue(api.store, name, [{ runInMs: 60_000 }, { runInMs: 60_000 }]);
    const query = { state: "scheduled,ready", max: "2" };
    const rows = await walk({ route: "api-tasks", params: { name }, query }, "tasks");
    expect(rows.map(({ task }) => task)).toEqual([...scheduled, ...ready]);
  });

  test("a cursor is taken with another `max`", async () => {
    const name = await define(api.store);
    await enqueue(api.store, name, 5);
    const params = { name };
    const cursor = await cursorOf({ route: "api-tasks", params, query: { max: "2" } });
    const rest = await ask({ route: "api-tasks", params, query: { max: "100", cursor } });
    expect(rest["tasks"]).toHaveLength(3);
  });

  test("a cursor of another list, another filter or another definition is refused, and so is any other text", async () => {
    const [name, other] = [await define(api.store), await define(api.store)];
    await enqueue(api.store, name, 3);
    const params = { name };
    const cursor = await cursorOf({ route: "api-tasks", params, query: { max: "2" } });
    const cases: readonly (readonly [ApiRequest, RegExp])[] = [
      [{ route: "api-groups", query: { cursor } }, /another list's/],
      [{ route: "api-tasks", params, query: { cursor, state: "dead" } }, /another filter/],
      [{ route: "api-tasks", params: { name: other }, query: { cursor } }, /another filter/],
      [{ route: "api-tasks", params, query: { cursor: cursor.slice(0, -3) } }, /as it is/],
      [{ route: "api-tasks", params, query: { cursor: "nonsense" } }, /as it is/],
      [{ route: "api-failures", query: { cursor: "" } }, /as it is/],
      [{ route: "api-failures", query: { cursor: "A".repeat(9_000) } }, /as it is/],
    ];
    for (const [request, expected] of cases) {
      const { status, body } = await api.call(request);
      expect([status, body]).toEqual([
        400,
        expect.objectContaining({
          problems: [
            {
              field: "cursor",
              value: expect.any(String),
              expected: expect.stringMatching(expected),
            },
          ],
        }),
      ]);
    }
  });
});

/** The cursor with another place in it, of the same length: form, hashes of list and filter, length, place, rows. */
function forge(cursor: string, place: string): string {
  const bytes = Buffer.from(cursor, "base64url");
  const length = bytes[9] ?? 0;
  bytes.write(place.padEnd(length, "x").slice(0, length), 10, "utf8");
  return bytes.toString("base64url");
}

test("a cursor with a place that no answer has told is refused as the cursor", async () => {
  const name = await define(api.store);
  await enqueue(api.store, name, [{ runInMs: 60_000 }, { runInMs: 60_000 }]);
  for (const counts of [[1], [1]]) await filled(api.store, name, { counts });
  for (const limit of [3, 4])
    await api.store.setLimit({ name, limit, operationId: operationId(), changedBy: "me" });
  const lists: readonly ApiRequest[] = [
    { route: "api-tasks", params: { name }, query: { state: "scheduled", max: "1" } },
    { route: "api-audit", query: { max: "1" } },
    { route: "api-batches", query: { max: "1" } },
  ];
  for (const list of lists) {
    const { cursor } = await ask(list);
    for (const place of ["scheduled ", "scheduled \u0000", "scheduled é", "\u0000", "é"]) {
      const query = { ...list.query, cursor: forge(cursor ?? "", place) };
      const { status, body } = await api.call({ ...list, query });
      expect([list.route, place, status, body]).toMatchObject([
        list.route,
        place,
        400,
        { problems: [{ field: "cursor" }] },
      ]);
    }
  }
});

test("an unknown parameter of a list is refused with the known ones, `cursor` among them", async () => {
  const name = await define(api.store);
  const paged: readonly ApiRequest[] = [
    { route: "api-tasks", params: { name } },
    ...["groups", "executions", "schedules", "watermarks", "shared-limits"].map((list) => ({
      route: `api-${list}`,
    })),
    ...["audit", "batches", "failures"].map((list) => ({ route: `api-${list}` })),
  ];
  for (const request of paged) {
    const { status, body } = await api.call({ ...request, query: { cursr: "x" } });
    expect([request, status, body]).toEqual([
      request,
      400,
      expect.objectContaining({
        problems: [
          {
            field: "cursr",
            value: '"x"',
            expected: expect.stringMatching(
              /^one of the members .*max, cursor\. Did you mean `cursor`\?$/,
            ) as unknown,
          },
        ],
      }),
    ]);
  }
});
