import { InvocationContext } from "@azure/functions";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { LimitReachedError } from "../../shared";
import type { Overflow } from "../../shared/functions";
import { createGate, until } from "../support/gate";
import { withClient } from "../support/test-postgres";
import { openGateScene } from "./gate-scene";
import type { GateScene } from "./gate-scene";

/*
 * Goal: what becomes of an invocation that gets no token, for each trigger. The gate runs in this process, on PostgreSQL and
 * the emulator of the storage. A body holds the only token of the limit meanwhile.
 */
const partner = { name: "partner", limit: 1 };
let scene: GateScene;
/** Bodies that ran. */
const ran: unknown[] = [];
const handlers = new Map<
  string,
  (message: unknown, context: InvocationContext) => Promise<unknown>
>();

/** Wraps a handler under a name of its own. */
function wrap(name: string, overflow?: Overflow): void {
  const options = { waitMs: 0, name, ...(overflow === undefined ? {} : { overflow }) };
  const handler = scene.gate.limited(partner, options, (message: unknown) => {
    ran.push(message);
    return "the handler's own";
  });
  handlers.set(name, handler);
}

/** An invocation as the host makes it. */
function invocationOf(type: string, trigger: object = {}, id = "m-1"): InvocationContext {
  return new InvocationContext({
    functionName: "notify",
    invocationId: "i-1",
    options: { trigger: { type, name: "trigger", ...trigger }, extraInputs: [], extraOutputs: [] },
    triggerMetadata: { id, dequeueCount: 1, popReceipt: "p" },
  });
}

async function call(name: string, message: unknown, context: InvocationContext): Promise<unknown> {
  return handlers.get(name)?.(message, context);
}

/** Runs `body` while the only token is held. */
async function whileHeld<Result>(body: () => Promise<Result>): Promise<Result> {
  const begun = createGate();
  const over = createGate();
  const holding = scene.gate.withTokens(partner, { waitMs: 10_000 }, async () => {
    begun.open();
    await over.opened;
  });
  await begun.opened;
  try {
    return await body();
  } finally {
    over.open();
    await holding;
  }
}

beforeAll(async () => {
  scene = await openGateScene({ tasks: [] }, { WORK_QUEUE: "work" });
  for (const overflow of ["task", "defer", "refuse"] as const) wrap(overflow, overflow);
  wrap("default");
});
afterAll(() => scene.close());

interface Stored {
  readonly kind: string;
  readonly payload: string;
}

async function storedTasks(): Promise<Stored[]> {
  const { rows } = await withClient(scene.url, (client) =>
    client.query<Stored>("select kind, payload from taskgate.task order by task_id"),
  );
  return rows;
}

/** Texts of a queue that are seen now; they stay hidden for a while afterwards. */
async function receive(queue: string): Promise<string[]> {
  const { receivedMessageItems } = await scene
    .queue(queue)
    .receiveMessages({ numberOfMessages: 32, visibilityTimeout: 600 });
  return receivedMessageItems.map(({ messageText }) =>
    Buffer.from(messageText, "base64").toString("utf8"),
  );
}

const queueTrigger = { queueName: "%WORK_QUEUE%", connection: "AzureWebJobsStorage" };

describe("an invocation with a token", () => {
  test.each(["httpTrigger", "queueTrigger", "timerTrigger", "blobTrigger"])(
    "limited hands trigger, context and result through: %s",
    async (type) => {
      expect(await call("default", { type }, invocationOf(type))).toBe("the handler's own");
      expect(ran.at(-1)).toEqual({ type });
    },
  );
});

describe("an invocation without a token", () => {
  test("limited answers 429 with Retry-After to HTTP, in whole seconds, for any overflow", async () => {
    const before = ran.length;
    const answers = await whileHeld(() =>
      Promise.all([...handlers.keys()].map((name) => call(name, {}, invocationOf("httpTrigger")))),
    );
    for (const answer of answers)
      expect(answer).toMatchObject({
        status: 429,
        headers: { "Retry-After": expect.stringMatching(/^[1-5]$/) },
        jsonBody: { error: { code: "TASKGATE_LIMIT_REACHED", message: "limit partner: limited" } },
      });
    expect(ran).toHaveLength(before);
  });

  test("limited ends the run of a timer without an error", async () => {
    const before = ran.length;
    const timer = invocationOf("timerTrigger");
    expect(await whileHeld(() => call("default", {}, timer))).toBeUndefined();
    expect(ran).toHaveLength(before);
  });

  test.each([
    ["blobTrigger", "default"],
    ["eventHubTrigger", "default"],
    ["cosmosDBTrigger", "default"],
    ["serviceBusTrigger", "defer"],
    ["serviceBusTrigger", "refuse"],
    ["queueTrigger", "refuse"],
  ])("limited throws LimitReachedError for the host's own retry: %s, %s", async (type, name) => {
    const thrown = whileHeld(() => call(name, { a: 1 }, invocationOf(type, queueTrigger)));
    await expect(thrown).rejects.toThrow(LimitReachedError);
    await expect(thrown).rejects.toThrow("limit partner: no token was free (limited)");
  });

  test.each(["queueTrigger", "serviceBusTrigger", "eventGridTrigger"])(
    "limited makes a task of the message of %s by default, and a queue's message only one",
    async (type) => {
      const before = (await storedTasks()).length;
      const message = { order: 7, of: type };
      await whileHeld(async () => {
        await call("default", message, invocationOf(type, queueTrigger, `id of ${type}`));
        // As the host delivers it when the first invocation's end was lost.
        if (type === "queueTrigger")
          await call("default", message, invocationOf(type, queueTrigger, `id of ${type}`));
      });
      const stored = (await storedTasks()).slice(before);
      expect(stored.map(({ kind }) => kind)).toEqual(["default"]);
      expect(JSON.parse(stored[0]?.payload ?? "")).toEqual({
        message,
        functionName: "notify",
        triggerMetadata: { id: `id of ${type}`, dequeueCount: 1 },
      });
    },
  );

  test.each<[string, unknown]>([
    // A task's payload is JSON, in which each of these takes two bytes.
    ["large", '"'.repeat(40_000)],
    ["deep", JSON.parse("[".repeat(101) + "]".repeat(101))],
  ])(
    "limited defers a queue's message that is too %s for a task, also by default",
    async (_, message) => {
      const before = (await storedTasks()).length;
      const context = invocationOf("queueTrigger", queueTrigger);
      expect(await whileHeld(() => call("default", message, context))).toBeUndefined();
      const work = scene.queue("work");
      expect((await work.getProperties()).approximateMessagesCount).toBe(1);
      expect(await storedTasks()).toHaveLength(before);
      await work.clearMessages();
    },
  );

  test.each<[what: string, messages: readonly unknown[], id: unknown]>([
    [
      "share an `id` in their payloads",
      [1, 2, 3].map((part) => ({ id: "customer-7", part })),
      "customer-7",
    ],
    ["share an `ID`, a number", [1, 2].map((part) => ({ ID: 7, part })), 7],
    ["are text that the host may read as objects", ["{id:'a',n:1}", "{id:'a',n:2}"], "a"],
  ])("limited stores each of several messages that %s", async (what, messages, id) => {
    const before = (await storedTasks()).length;
    await whileHeld(async () => {
      for (const message of messages)
        await call("task", message, invocationOf("queueTrigger", {}, id as string));
    });
    const stored = (await storedTasks()).slice(before);
    expect(
      stored.map(({ payload }) => (JSON.parse(payload) as { message: unknown }).message),
    ).toEqual(messages);
  });

  test("limited stores a message once that the host delivers again", async () => {
    const before = (await storedTasks()).length;
    await whileHeld(async () => {
      for (const id of ["m-8", "m-8", "m-9"])
        await call("task", { order: 1 }, invocationOf("queueTrigger", {}, id));
    });
    expect((await storedTasks()).slice(before)).toHaveLength(2);
  });

  test("limited lets the invocation fail whose message neither a task nor a queue can take", async () => {
    const context = invocationOf("queueTrigger", queueTrigger);
    const thrown = whileHeld(() => call("default", Buffer.from("bytes"), context));
    await expect(thrown).rejects.toThrow("message: expected a text or JSON (bytes");
  });
});

describe("a deferred message", () => {
  test("limited puts the message back into the queue of its trigger, hidden for a while, and ends well", async () => {
    const before = ran.length;
    const context = invocationOf("queueTrigger", queueTrigger);
    expect(await whileHeld(() => call("defer", { parcel: 3 }, context))).toBeUndefined();
    const work = scene.queue("work");
    expect((await work.getProperties()).approximateMessagesCount).toBe(1);
    expect(await receive("work")).toEqual([]);
    expect(ran).toHaveLength(before);
    await work.clearMessages();
  });

  test.each([
    ["JSON", { parcel: 3, of: ["é", null] }, '{"parcel":3,"of":["é",null]}'],
    ["a text", "parcel 3", "parcel 3"],
  ])("defer keeps %s as it was, and its delay", async (_, message, expected) => {
    const startedMs = performance.now();
    await scene.gate.defer(message, invocationOf("queueTrigger", queueTrigger), 600);
    let texts: string[] = [];
    await until("the message is seen", async () => {
      texts = await receive("work");
      return texts.length > 0;
    });
    expect(texts).toEqual([expected]);
    // Storage queues count in whole seconds, and drop the rest of the one in which the message came.
    expect(performance.now() - startedMs).toBeGreaterThan(500);
    await scene.queue("work").clearMessages();
  });

  test("defer resolves the queue's name when it is called, not when the app is loaded", async () => {
    process.env["LATER_QUEUE"] = "later";
    const trigger = { queueName: "%LATER_QUEUE%", connection: "AzureWebJobsStorage" };
    await scene.gate.defer("a", invocationOf("queueTrigger", trigger), 0);
    expect(await receive("later")).toEqual(["a"]);
  });

  test("defer names a setting that is missing, another trigger, and a message that it can't put back", async () => {
    const { gate } = scene;
    const absent = invocationOf("queueTrigger", { queueName: "%ABSENT%", connection: "Nowhere" });
    await expect(gate.defer("a", absent, 0)).rejects.toThrow("ABSENT: expected part of %ABSENT%");
    const blob = invocationOf("blobTrigger");
    await expect(gate.defer("a", blob, 0)).rejects.toThrow(
      "trigger: expected queueTrigger (blobTrigger)",
    );
    const queue = invocationOf("queueTrigger", queueTrigger);
    await expect(gate.defer(new Uint8Array(3), queue, 0)).rejects.toThrow(
      "message: expected a text or JSON",
    );
  });
});

describe("bad input of limited", () => {
  const body = (): undefined => undefined;
  const lacking = { waitMs: 4 } as never;
  const misplaced = body as never;
  test.each<[string, () => unknown, string]>([
    [
      "a name instead of a limit",
      () => scene.gate.limited("partner" as never, body),
      "limit: expected { name, limit }",
    ],
    ["an empty list", () => scene.gate.limited([], body), "limits: expected 1..8 limits (0)"],
    [
      "tasks on several tokens",
      () => scene.gate.limited(partner, { want: 2, overflow: "task" }, body),
      "overflow: expected defer or refuse (task)",
    ],
    [
      "a wrapper that is made in an invocation",
      () => scene.gate.limited(partner, { name: "late" }, body),
      "name: expected gate.limited to be called while the app is loaded (late)",
    ],
    [
      "a mistyped limit",
      () => scene.gate.limited({ name: "partner", limt: 4 } as never, body),
      "limt: unknown option of limit. Did you mean `limit`?",
    ],
    [
      "a mistyped limit in a list",
      () => scene.gate.limited([partner, { name: "other", limt: 4 } as never], body),
      "limt: unknown option of limits[1]. Did you mean `limit`?",
    ],
    [
      "another number than another function's",
      () => scene.gate.limited({ name: "partner", limit: 3 }, { name: "third" }, body),
      "limit: expected 1 (3), as this process uses limit partner with it already",
    ],
    [
      "a limit that is a text",
      () => scene.gate.limited({ name: "partner", limit: "many" } as never, body),
      'limit.limit: expected a whole number in 0..1000 (the text "many")',
    ],
    [
      "a mistyped option",
      () => scene.gate.limited(partner, { waitms: 4 } as never, body),
      "waitms: unknown option of limited. Did you mean `waitMs`? Known are waitMs, want, overflow, name",
    ],
    [
      "an overflow that there isn't",
      () => scene.gate.limited(partner, { overflow: "drop" } as never, body),
      'overflow: expected task, defer or refuse (the text "drop")',
    ],
    [
      "no tokens",
      () => scene.gate.limited(partner, { want: 0 }, body),
      "want: expected a whole number in 1..1000 (0)",
    ],
    [
      "options without a handler",
      () => scene.gate.limited(partner, lacking),
      "handler: expected a function (an object)",
    ],
    [
      "a limit alone",
      () => (scene.gate.limited as unknown as (limit: object) => unknown)(partner),
      "handler: expected a function (undefined)",
    ],
    [
      "options behind the handler",
      () => scene.gate.limited(partner, misplaced, lacking),
      "limited: expected an object, of waitMs, want, overflow, name (a function)",
    ],
  ])("limited refuses %s and names the field", (_, make, message) => {
    expect(make).toThrow(message);
  });

  test.each<[object, string]>([
    [{ want: 0 }, "want: expected a whole number in 1..1000 (0)"],
    [{ waitMs: -1 }, "waitMs: expected a whole number in 0..86400000 (-1)"],
    [{ signal: {} as never }, "signal: expected an AbortSignal (an object)"],
    [{ waitms: 9 }, "waitms: unknown option of withTokens. Did you mean `waitMs`?"],
  ])("withTokens refuses %j and names the field", async (options, message) => {
    const call = scene.gate.withTokens(partner, options, async () => undefined);
    await expect(call).rejects.toThrow(message);
  });

  test("withTokens refuses a mistyped limit and a call without a body", async () => {
    const { gate } = scene;
    const mistyped = gate.withTokens({ name: "x", limt: 4 } as never, async () => undefined);
    await expect(mistyped).rejects.toThrow("limt: unknown option of limit. Did you mean `limit`?");
    await expect(gate.withTokens(partner, lacking)).rejects.toThrow(
      "body: expected a function (an object)",
    );
  });
});

describe("bad input of work", () => {
  const signal = new AbortController().signal;
  test.each<[object, string]>([
    [{ signal, pollms: 4 }, "pollms: unknown option of work. Did you mean `pollMs`?"],
    [{ signal, pollMs: "2s" }, 'pollMs: expected a whole number in 1..2147483647 (the text "2s")'],
    [{ signal, graceMs: -1 }, "graceMs: expected a whole number in 0..2147483647 (-1)"],
    [{ signal, concurrency: 0 }, "concurrency: expected a whole number in 1..1000 (0)"],
    [
      { signal, definitions: "notify" },
      'definitions: expected a list of names of definitions (the text "notify")',
    ],
    [{}, "signal: expected an AbortSignal, which ends the work (undefined)"],
  ])("work refuses %j at the call", async (options, message) => {
    await expect(scene.gate.work(options as never)).rejects.toThrow(message);
  });
});
