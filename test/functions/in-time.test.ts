import { describe, expect, test } from "@jest/globals";
import { createApiRoutes } from "../../functions/api/routes";
import { answerMs, inTime } from "../../functions/in-time";
import type { Admin } from "../../shared/admin/create-admin";
import { callRoute } from "./api-setup";

const never = <Result>(): Promise<Result> => new Promise<Result>(() => undefined);

describe("the API before a database that says nothing", () => {
  test("answers every route with 503 and retry-after within 5 s", async () => {
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

  test("leaves no timer behind where the answer came", async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    await expect(inTime(Promise.resolve(7), { reads: true })).resolves.toBe(7);
    const after = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    expect(after).toBeLessThanOrEqual(before);
    expect(answerMs).toBeLessThan(5_000);
  });
});
