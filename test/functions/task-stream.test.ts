import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { setupApi } from "./api-setup";
import type { ApiResponse, ApiSetup } from "./api-setup";

let api: ApiSetup;
beforeAll(async () => {
  api = await setupApi();
  await api.register("known");
});
afterAll(() => api.close());

function send(body: string | Uint8Array, type = "application/x-ndjson"): Promise<ApiResponse> {
  return api.call({
    route: "api-enqueue",
    params: { name: "known" },
    headers: { "content-type": type },
    body,
  });
}

const task = (index: number, more: object = {}): string =>
  JSON.stringify({ payload: { index }, ...more });
const lines = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, index) => `${task(from + index)}\n`).join("");

async function waiting(): Promise<number> {
  const [definition] = await api.admin.definitions("known");
  return definition?.ready ?? 0;
}

describe("a task per line", () => {
  test("all tasks of a stream are enqueued in slices, and the answer sums them up", async () => {
    const before = await waiting();
    const response = await send(lines(1_201));
    expect(response).toMatchObject({
      status: 201,
      body: { definition: "known", lines: 1_201, enqueued: 1_201, duplicates: 0, replaced: 0 },
    });
    expect(await waiting()).toBe(before + 1_201);
  });

  test("a bad line takes its slice along and nothing before it", async () => {
    const before = await waiting();
    const response = await send(`${lines(1_000)}${task(0, { priority: "x" })}\n${lines(10)}`);
    expect(response).toMatchObject({
      status: 400,
      body: {
        problems: [{ field: "line 1001.priority" }],
        done: { lines: 1_000, enqueued: 1_000 },
      },
    });
    expect(await waiting()).toBe(before + 1_000);
  });

  test("a bad first slice does nothing", async () => {
    const before = await waiting();
    const response = await send(`${lines(400)}{"payload":{"n":1e309}}\n{"payload":\n`);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      problems: [{ field: "line 401.payload.n" }, { field: "line 402" }],
    });
    expect(response.body).toMatchObject({ done: { lines: 0, enqueued: 0, duplicates: 0 } });
    expect(await waiting()).toBe(before);
  });

  test("slices hold at most 1 MiB", async () => {
    const large = Array.from({ length: 40 }, () => `{"payload":["${"x".repeat(60_000)}"]}\n`);
    const response = await send(`${large.join("")}{"payload":5}\n`);
    // 17 lines of 60,014 bytes make a slice; the third holds the bad one.
    expect(response).toMatchObject({ status: 400, body: { done: { lines: 34, enqueued: 34 } } });
  });

  test("a line of more than 72 KiB is refused with its number", async () => {
    const response = await send(`${lines(501)}{"payload":["${"x".repeat(72 * 1_024)}"]}\n`);
    expect(response).toMatchObject({
      status: 413,
      body: { problems: [{ field: "line 502" }], done: { lines: 500 } },
    });
    // It never ends.
    expect((await send("x".repeat(200_000))).status).toBe(413);
  });

  test("blank lines, line ends of Windows and a last line without an end are read", async () => {
    const response = await send(`\n${task(1)}\r\n\r\n${task(2)}`);
    expect(response).toMatchObject({ status: 201, body: { lines: 4, enqueued: 2 } });
  });

  test("a repeat with dedupe keys adds nothing", async () => {
    const body = Array.from({ length: 600 }, (_, index) =>
      task(index, { dedupeKey: `line-${String(index)}` }),
    ).join("\n");
    expect(await send(body)).toMatchObject({ status: 201, body: { enqueued: 600 } });
    expect(await send(body)).toMatchObject({
      status: 200,
      body: { enqueued: 0, duplicates: 600, lines: 600 },
    });
  });

  test("an empty stream, bytes that are no UTF-8 and an operationId are refused", async () => {
    expect(await send("")).toMatchObject({ status: 400, body: { problems: [{ field: "body" }] } });
    expect(await send("\n\n")).toMatchObject({
      status: 400,
      body: { problems: [{ field: "body" }] },
    });
    expect(await send(new Uint8Array([0x7b, 0xff, 0x7d, 0x0a]))).toMatchObject({
      status: 400,
      body: { problems: [{ field: "line 1" }] },
    });
    expect(await send(task(1, { operationId: "17" }))).toMatchObject({
      status: 400,
      body: { problems: [{ field: "line 1.operationId" }] },
    });
  });

  test("the type alone decides: as JSON two lines are no body", async () => {
    const response = await send(lines(2), "application/json");
    expect(response).toMatchObject({ status: 400, body: { problems: [{ field: "body" }] } });
    expect((await send(lines(2), "Application/X-NDJSON; charset=utf-8")).status).toBe(201);
  });

  test("a million and one lines are too many, blank as they are", async () => {
    const response = await send("\n".repeat(1_000_001));
    expect(response).toMatchObject({ status: 413, body: { problems: [{ field: "body" }] } });
  });

  test("other requests have their turn while a long body is read", async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await send(`${"  \n".repeat(600_000)}x`);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
  });

  test("an unknown definition is 404 at the first slice", async () => {
    const response = await api.call({
      route: "api-enqueue",
      params: { name: "knonw" },
      headers: { "content-type": "application/x-ndjson" },
      body: lines(3),
    });
    expect(response).toMatchObject({ status: 404, body: { done: { lines: 0, enqueued: 0 } } });
  });
});
