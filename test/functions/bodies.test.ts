import { expect, test } from "@jest/globals";
import type { Admin } from "../../shared/admin/create-admin";
import type { Problem } from "../../shared/admin/problem-list";
import { callRoute } from "./api-setup";
import type { ApiResponse } from "./api-setup";

/** A caller that gets this far has read the body. */
const asked = "the admin was asked";
const admin = new Proxy(
  {},
  {
    // Without a `then` of its own a promise can hold it.
    get: (_, member) =>
      member === "then"
        ? undefined
        : () => {
            throw new Error(asked);
          },
  },
) as Admin;

const KiB = 1_024;

interface Bounded {
  readonly route: string;
  readonly bytes: number;
  /** A good body but for its length. */
  readonly body: (padding: string) => unknown;
}

const name = { name: "known" };
const routes: readonly Bounded[] = [
  { route: "api-limit", bytes: 16 * KiB, body: (pad) => ({ limit: 1, reason: "x", pad }) },
  { route: "api-owner", bytes: 16 * KiB, body: (pad) => ({ app: null, pad }) },
  { route: "api-rate", bytes: 16 * KiB, body: (pad) => ({ rate: null, pad }) },
  { route: "api-shared-limit", bytes: 16 * KiB, body: (pad) => ({ limit: 1, pad }) },
  { route: "api-pause", bytes: 16 * KiB, body: (pad) => ({ pad }) },
  { route: "api-resume", bytes: 16 * KiB, body: (pad) => ({ pad }) },
  { route: "api-group", bytes: 16 * KiB, body: (pad) => ({ key: "g", pad }) },
  { route: "api-schedule-pause", bytes: 16 * KiB, body: (pad) => ({ schedule: "s", pad }) },
  { route: "api-schedule-resume", bytes: 16 * KiB, body: (pad) => ({ schedule: "s", pad }) },
  { route: "api-schedule-run", bytes: 16 * KiB, body: (pad) => ({ schedule: "s", pad }) },
  { route: "api-watermark", bytes: 72 * KiB, body: (pad) => ({ watermark: "w", value: [pad] }) },
  { route: "api-cancel", bytes: 40 * KiB, body: (pad) => ({ tasks: ["1"], pad }) },
  { route: "api-redrive", bytes: 40 * KiB, body: (pad) => ({ tasks: ["1"], pad }) },
  { route: "api-reschedule", bytes: 40 * KiB, body: (pad) => ({ tasks: ["1"], runInMs: 1, pad }) },
  { route: "api-enqueue", bytes: 72 * KiB, body: (pad) => ({ payload: { pad } }) },
  { route: "api-enqueue", bytes: 2_048 * KiB, body: (pad) => ({ tasks: [{ payload: [pad] }] }) },
];

function bodyOf({ body }: Bounded, bytes: number): string {
  const bare = JSON.stringify(body("")).length;
  return JSON.stringify(body("x".repeat(bytes - bare)));
}

const problemsOf = (response: ApiResponse): Problem[] =>
  (response.body as { problems: Problem[] }).problems;

test.each(routes)("$route reads $bytes bytes and refuses one more", async (bounded) => {
  const { route, bytes } = bounded;
  const longest = await callRoute(() => Promise.resolve(admin), {
    route,
    params: name,
    body: bodyOf(bounded, bytes),
  });
  // It was read: one of its members is refused.
  expect(problemsOf(longest).map(({ field }) => field)).not.toContain("body");
  const longer = await callRoute(() => Promise.resolve(admin), {
    route,
    params: name,
    body: bodyOf(bounded, bytes + 1),
  });
  expect(longer.status).toBe(413);
  const [problem] = problemsOf(longer);
  expect(problem?.field).toBe("body");
  expect(problem?.expected).toContain(`at most ${String(bytes)} bytes`);
});

test("a body that tells its length is refused unread", async () => {
  const response = await callRoute(() => Promise.resolve(admin), {
    route: "api-limit",
    params: name,
    headers: { "content-length": "104857600" },
    body: { limit: 1 },
  });
  expect(response.status).toBe(413);
  expect(problemsOf(response)[0]?.value).toBe("104857600 bytes");
});

test("an operator's longest list of ids with its longest reason fits", async () => {
  const tasks = Array.from({ length: 1_000 }, (_, index) =>
    String(9_000_000_000_000_000_000n + BigInt(index)),
  );
  const reason = "é".repeat(400);
  const escaped = JSON.stringify({ tasks, reason }).replaceAll("é", "\\u00e9");
  const response = await callRoute(() => Promise.resolve(admin), {
    route: "api-cancel",
    body: escaped,
  });
  expect(response.status).toBe(500);
  expect(response.body).not.toHaveProperty("problems.0");
});
