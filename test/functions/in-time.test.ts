import { describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { answerMs, inTime } from "../../shared/functions/in-time";
import { sleep } from "../../shared/platform/real-clock";
import type { Admin } from "../../shared/admin/create-admin";
import { callRoute } from "./api-setup";

const never = <Result>(): Promise<Result> => new Promise<Result>(() => undefined);

/** 1,501 tasks, a line each: four slices. */
const lines = Array.from({ length: 1_501 }, () => '{"payload":null}').join("\n");
const report = { enqueued: 500, replaced: 0, duplicates: 0, nextDueMs: null };

/** Sends the lines to an app whose store takes `answersInMs` for each slice in turn; null: it never answers. */
function sendLines(answersInMs: readonly (number | null)[]): ReturnType<typeof callRoute> {
  let slices = 0;
  const enqueue = (): Promise<unknown> => {
    const ms = answersInMs[slices++] ?? null;
    return ms === null ? never() : sleep(ms).then(() => report);
  };
  return callRoute(() => Promise.resolve({ enqueue } as unknown as Admin), {
    route: "api-enqueue",
    params: { name: "known" },
    headers: { "content-type": "application/x-ndjson" },
    body: lines,
  });
}

describe("the API before a database that says nothing", () => {
  test("the API before a silent database answers every route with 503 and retry-after within 5 s", async () => {
    const routes = createApiRoutes(never<Admin>);
    const begun = performance.now();
    const answers = await Promise.all(
      routes.map(({ name, methods }) =>
        callRoute(never<Admin>, { route: name, ...(methods[0] === "GET" ? {} : { body: {} }) }),
      ),
    );
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(routes.length).toBeGreaterThan(20);
    for (const [index, { status, headers, body }] of answers.entries()) {
      const isRead = routes[index]?.methods[0] === "GET";
      expect({ status, retry: headers["retry-after"] }).toEqual({ status: 503, retry: "5" });
      const code = isRead ? "TASKGATE_STORE_UNAVAILABLE" : "TASKGATE_STORE_UNCERTAIN";
      expect(body).toMatchObject({ code });
      // A change that may have happened is not told as if nothing had.
      expect(JSON.stringify(body).includes("may still happen")).toBe(!isRead);
    }
  });

  test("bounds each slice of a stream, not the whole of it, and tells the work done before one without an answer", async () => {
    const [slow, silent] = await Promise.all([
      sendLines([1_500, 1_500, 1_500, 0]),
      sendLines([0, null]),
    ]);
    expect(slow).toMatchObject({ status: 201, body: { lines: 1_501, enqueued: 2_000 } });
    expect(silent).toMatchObject({
      status: 503,
      body: { code: "TASKGATE_STORE_UNCERTAIN", done: { lines: 500, enqueued: 500 } },
    });
  }, 20_000);

  test("the API before a silent database leaves no timer behind where the answer came", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    await expect(
      inTime(Promise.resolve(7), { reads: true, ending: new AbortController().signal }),
    ).resolves.toBe(7);
    const after = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    expect(after).toBeLessThanOrEqual(before);
    expect(answerMs).toBeLessThan(5_000);
  });
});
