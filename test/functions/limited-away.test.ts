import { InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { taskgate } from "../../shared/functions";
import type { Gate } from "../../shared/functions";
import { sleep } from "../../shared/platform/real-clock";
import { urlAs } from "../support/roles";
import { startNetwork } from "../support/silent-network";
import { createTestDatabase } from "../support/test-postgres";

/* Goal: what an HTTP function under a limit answers while the database is away, and that its handler doesn't run then. */
const partner = { name: "partner", limit: 1 };
let database: Awaited<ReturnType<typeof createTestDatabase>>;
let network: Awaited<ReturnType<typeof startNetwork>>;

beforeAll(async () => {
  database = await createTestDatabase();
  network = await startNetwork(new URL(urlAs(database.url, "app")));
  Object.assign(process.env, {
    TASKGATE_CONNECTIONS_MAX: "1",
    TASKGATE_LOG_LEVEL: "error",
    // Longer than the answer may take.
    TASKGATE_CALL_TIMEOUT_MS: "6000",
  });
});
afterAll(async () => {
  network.close();
  await database.drop();
});

function invocation(): InvocationContext {
  const trigger = { type: "httpTrigger", name: "trigger" };
  const options = { trigger, extraInputs: [], extraOutputs: [] };
  const logHandler = (): void => undefined;
  return new InvocationContext({ functionName: "page", invocationId: "i", options, logHandler });
}

function open(url: string, waitMs: number) {
  process.env["TASKGATE_DATABASE_URL"] = url;
  const gate: Gate = taskgate({ tasks: [] });
  const ran: number[] = [];
  const page = gate.limited(partner, { waitMs }, (id: number) => {
    ran.push(id);
    if (id < 0) throw new Error("the handler's own");
    return { body: "served" };
  });
  return { gate, ran, call: (id: number) => page(id, invocation()) };
}

const unavailable = {
  status: 503,
  headers: { "Retry-After": "5" },
  jsonBody: {
    error: {
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: expect.stringMatching(/^limit partner: /) as unknown,
    },
  },
};

describe("withTokens", () => {
  test("withTokens throws StoreUnavailableError within 4 s after waitMs while the database is silent, and its body begins no more", async () => {
    const { gate } = open(network.url, 0);
    const ran: string[] = [];
    const call = (name: string) =>
      gate.withTokens(partner, { waitMs: 300, signal: new AbortController().signal }, async () => {
        await sleep(1);
        return ran.push(name);
      });
    expect(await call("before")).toMatchObject({ ran: true });
    // The idle token has gone back by then.
    await sleep(1_500);
    await network.fallSilent();
    const startedMs = performance.now();
    const answers = await Promise.allSettled([
      call("silent"),
      gate.withTokens(partner, () => Promise.resolve(ran.push("silent"))),
    ]);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    expect(answers).toMatchObject(
      answers.map(() => ({ status: "rejected", reason: { code: "TASKGATE_STORE_UNAVAILABLE" } })),
    );
    await network.speakAgain();
    for (let tries = 0; !ran.includes("after") && tries < 60; tries += 1) {
      await call("after").catch(() => undefined);
      await sleep(500);
    }
    expect(ran).toEqual(["before", "after"]);
    await gate.end();
  }, 90_000);

  test("withTokens lets a body that has begun run for longer than a silent database may take", async () => {
    const { gate } = open(network.url, 0);
    const isAborted = async (): Promise<boolean> => {
      const answer = await gate.withTokens(partner, { waitMs: 0 }, async ({ signal }) => {
        await sleep(4_500);
        return signal.aborted;
      });
      return answer.ran && answer.value;
    };
    expect(await isAborted()).toBe(false);
    await gate.end();
  }, 30_000);
});

describe("an HTTP function under a limit", () => {
  test("an HTTP function under a limit answers 503 with Retry-After while the database refuses connections", async () => {
    const { gate, ran, call } = open("postgres://u:p@127.0.0.1:1/d", 0);
    expect(await call(1)).toEqual(unavailable);
    expect(await call(2)).toEqual(unavailable);
    expect(ran).toEqual([]);
    await gate.end();
  }, 20_000);

  test("an HTTP function under a limit answers 503 within 4 s after waitMs while the database is silent, and its handler runs no more", async () => {
    const { gate, ran, call } = open(network.url, 300);
    expect(await call(1)).toEqual({ body: "served" });
    await expect(call(-1)).rejects.toThrow("the handler's own");
    // The idle token has gone back by then.
    await sleep(1_500);
    await network.fallSilent();
    const startedMs = performance.now();
    expect(await call(2)).toEqual(unavailable);
    expect(performance.now() - startedMs).toBeLessThan(5_000);
    await network.speakAgain();
    for (let tries = 0; !ran.includes(3) && tries < 60; tries += 1) {
      await call(3);
      await sleep(500);
    }
    expect(ran).toEqual([1, -1, 3]);
    await gate.end();
  }, 90_000);
});
