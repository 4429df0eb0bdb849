import { describe, expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../shared/core/errors";
import type { JsonObject } from "../../../shared/core/json";
import { defineLimit, defineQueue } from "../../../shared/worker/define/define-queue";
import { defineTask } from "../../../shared/worker/define/define-task";
import type { StandardSchema } from "../../../shared/worker/define/standard-schema";
import { taskRef, taskRequest } from "../../../shared/worker/define/task-ref";
import { expectError } from "../../support/expect-error";
import { factsOf, openWorkerBench } from "./worker-bench";

/* Goal: what the compiler can't see is refused when the call runs: in JavaScript, without strict checks, behind a cast. */

/** Takes `{ to }`, a text; `isLate`: it answers by a promise. */
function letterSchema(isLate: boolean): StandardSchema<{ to: string }> {
  const check = (value: unknown) =>
    typeof (value as { to?: unknown } | null)?.to === "string"
      ? { value: value as { to: string } }
      : { issues: [{ message: "expected a text", path: ["to"] }] };
  const validate = (value: unknown) => (isLate ? Promise.resolve(check(value)) : check(value));
  return { "~standard": { version: 1, vendor: "test", validate } };
}

const run = (): Promise<void> => Promise.resolve();
const bad = { to: 7 } as unknown as { to: string };
const refusal = {
  code: "TASKGATE_ARG_INVALID",
  field: "payload",
  value: "to: expected a text",
} as const;

describe.each([false, true])(
  "a payload that the kind's schema refuses (late answer: %j)",
  (isLate) => {
    const letter = defineTask({ name: "letter", input: letterSchema(isLate), run });

    test("enqueue, enqueueMany and enqueueAll refuse it, and add none of its neighbours", async () => {
      const { client, store } = openWorkerBench([letter]);
      await expectError(client.enqueue(letter, bad), refusal);
      await expectError(client.enqueueMany(letter, [{ to: "Ada" }, bad]), refusal);
      const requests = [taskRequest(letter, { to: "Ada" }), taskRequest(letter, bad)];
      await expectError(client.enqueueAll(requests), refusal);
      await expectError(client.enqueue(taskRef({ name: "letter" }), { to: null }), refusal);
      expect((await store.listDefinitions({})).definitions).toEqual([]);
    });

    test("ctx.enqueue throws in the handler, which may catch it", async () => {
      const seen: unknown[] = [];
      const parent = defineTask({
        name: "parent",
        run: async (_, ctx) => {
          await ctx.enqueue(letter, { to: "Ada" });
          await ctx.enqueue(letter, bad).catch((error: unknown) => seen.push(error));
        },
      });
      const { client, store, work } = openWorkerBench([parent, letter]);
      await client.enqueue(parent);
      await work("parent");
      expect(seen).toEqual([expect.objectContaining({ code: "TASKGATE_ARG_INVALID" })]);
      const { definitions } = await store.listDefinitions({ name: "letter" });
      expect(definitions).toMatchObject([{ ready: 1 }]);
    });

    test("watermark.advance refuses a block that has another shape, and stays where it is", async () => {
      const { client } = openWorkerBench([letter]);
      const list = { after: async () => ["a"], markOf: (item: string) => item, maxItems: 1 };
      const request = { watermark: "by-name", list };
      await expectError(client.watermark.advance(letter, request), {
        ...refusal,
        field: "block's payload",
      });
      expect(await client.watermark.read(letter, request)).toMatchObject({ version: "0" });
      const made = await client.watermark.advance(letter, { ...request, header: { to: "x" } });
      expect(made.status).toBe("advanced");
    });
  },
);

describe.each([false, true])("a schema that throws (by a promise: %j)", (isLate) => {
  const thrown = new TypeError("inner");
  const throwing = (error: Error): StandardSchema<{ to: string }> => {
    const validate = () => {
      if (isLate) return Promise.reject(error);
      throw error;
    };
    return { "~standard": { version: 1, vendor: "test", validate } };
  };
  const message = "payload: expected what kind letter takes (its input schema threw: inner)";

  test("enqueue names the payload, the kind and the cause, and adds nothing", async () => {
    const letter = defineTask({ name: "letter", input: throwing(thrown), run });
    const { client, store } = openWorkerBench([letter]);
    const refused = client.enqueue(letter, { to: "Ada" });
    await expect(refused).rejects.toMatchObject({
      ...{ code: "TASKGATE_ARG_INVALID", message, cause: thrown },
      details: { field: "payload", problems: [expect.objectContaining({ field: "payload" })] },
    });
    expect((await store.listDefinitions({})).definitions).toEqual([]);
    const silent = defineTask({ name: "letter", input: throwing(new Error("")), run });
    await expect(openWorkerBench([silent]).client.enqueue(silent, { to: "" })).rejects.toThrow(
      "(its input schema threw: an error without a message)",
    );
  });

  test("a task that waits already fails with an error that names the schema and its cause", async () => {
    const loose = defineTask({ name: "letter", retry: { attempts: 1 }, run });
    const { client, store } = openWorkerBench([loose]);
    const { taskId } = await client.enqueue(loose, { to: "Ada" });
    const letter = defineTask({
      name: "letter",
      retry: { attempts: 1 },
      input: throwing(thrown),
      run,
    });
    const bench = openWorkerBench([letter], { store });
    await bench.work("letter");
    const facts = await factsOf(bench, taskId);
    expect(facts).toMatchObject({ state: "dead" });
    expect(facts.attempts[0]?.error).toMatch(
      /^Error: the task's input schema threw: inner\ncaused by TypeError: inner\n/u,
    );
  });

  test("an error of Taskgate stays what it is: an outage isn't the payload's fault", async () => {
    const away = new StoreUnavailableError("the database is away");
    const letter = defineTask({ name: "letter", input: throwing(away), run });
    const { client } = openWorkerBench([letter]);
    await expect(client.enqueue(letter, { to: "Ada" })).rejects.toBe(away);
  });
});

test("a schedule whose schema throws is refused where it is declared", () => {
  const validate = () => {
    throw new Error("inner");
  };
  const input = { "~standard": { version: 1 as const, vendor: "test", validate } };
  expect(() => defineTask({ name: "a", input, schedule: { cron: "@daily" }, run })).toThrow(
    "schedule.payload: expected what kind a takes, without scheduledFor (its input schema threw: inner)",
  );
});

describe("an option that nothing knows", () => {
  const loose = defineTask as unknown as (options: object) => unknown;
  const options = { ...{ prioritty: 1 } } as JsonObject;
  const cases: readonly [string, () => unknown, [field: string, hint: string]][] = [
    ["defineTask", () => loose({ name: "a", limt: 2, run }), ["limt", "Did you mean `limit`?"]],
    ["retry", () => loose({ name: "a", retry: { attempt: 2 }, run }), ["attempt", "`attempts`"]],
    ["group", () => loose({ name: "a", group: { isStrict: true }, run }), ["isStrict", "strict"]],
    ["dedupe", () => loose({ name: "a", dedupe: { by: "a", for: 1 }, run }), ["for", "forMs"]],
    [
      "a schedule",
      () => loose({ name: "a", schedule: { cron: "@daily", zone: "UTC" }, run }),
      ["zone", "timeZone"],
    ],
    [
      "defineQueue",
      () => defineQueue({ name: "a", ...{ prefetchMax: 1 } }),
      ["prefetchMax", "prefetch"],
    ],
    ["defineLimit", () => defineLimit({ name: "a", ...{ max: 1 } }), ["max", "limit"]],
    ["taskRef", () => taskRef({ name: "a", ...{ definition: "b" } }), ["definition", "queue"]],
    [
      "taskRequest",
      () => taskRequest(taskRef({ name: "a" }), null, options),
      ["prioritty", "Did you mean `priority`?"],
    ],
  ];
  test.each(cases)("%s refuses it with the names that it knows", async (_, declare, says) => {
    const [field, hint] = says;
    const call = Promise.resolve().then(declare);
    await expectError(call, { code: "TASKGATE_ARG_INVALID", field });
    await expect(call).rejects.toThrow(hint);
  });
});

describe("other mistakes of an author", () => {
  test.each<[string, () => unknown, string]>([
    ["defineTask", () => defineTask({ name: "calls:partner-api", limit: 5, run }), "name"],
    ["defineQueue", () => defineQueue({ name: "calls:partner-api" }), "name"],
    ["taskRef", () => taskRef({ name: "calls:partner-api" }), "name"],
    ["taskRef", () => taskRef({ name: "call", queue: "calls:partner-api" }), "queue"],
  ])("%s refuses a name under which functions hold tokens, and says why", (_, declare, field) => {
    expect(declare).toThrow(
      `${field}: expected a name that doesn't begin with calls: (calls:partner-api): under such names functions hold tokens of limits`,
    );
  });

  test("defineTask refuses settings beside a shared queue, where they would mean nothing", () => {
    const queue = defineQueue({ name: "shared" });
    expect(() => defineTask({ name: "a", queue, limit: 2, run })).toThrow(
      "limit: expected nothing here: queue `shared` has it",
    );
    expect(() => defineTask({ name: "a", queue, group: { slots: 2 }, run })).toThrow("group.slots");
  });

  test("client.enqueue refuses a taskRef of a kind that a queue of this code doesn't have, and names the nearest", async () => {
    const queue = defineQueue({ name: "imports" });
    const { client } = openWorkerBench([defineTask({ name: "load", queue, run })]);
    const mistyped = taskRef({ name: "laod", queue: "imports" });
    await expect(client.enqueue(mistyped)).rejects.toThrow("Did you mean load?");
    const elsewhere = taskRef({ name: "laod", queue: "exports" });
    await expect(client.enqueue(elsewhere)).rejects.toThrow("exports");
    await expect(client.enqueue(elsewhere)).rejects.not.toThrow("Did you mean");
  });

  test("defineTask refuses a schedule whose payload its schema refuses", () => {
    const schedule = { cron: "@daily", payload: { to: 7 } } as unknown as {
      cron: string;
      payload: { to: string };
    };
    expect(() => defineTask({ name: "a", input: letterSchema(false), schedule, run })).toThrow(
      "schedule.payload: expected what kind a takes, without scheduledFor (to: expected a text)",
    );
  });

  test("client.enqueue refuses a name where a kind is expected, and a text that is no wave", async () => {
    const kind = defineTask({ name: "a", run });
    const { client } = openWorkerBench([kind]);
    const byName = client.enqueue("a" as unknown as typeof kind);
    await expectError(byName, { code: "TASKGATE_ARG_INVALID", field: "task", value: "a" });
    const inWave = client.enqueue(kind, null, { wave: "first" });
    await expectError(inWave, { code: "TASKGATE_ARG_INVALID", field: "wave", value: "first" });
    await expect(client.batches.start("first")).rejects.toThrow("batchId: expected an id");
  });

  test("client.waitFor refuses a task of another kind", async () => {
    const kind = defineTask({ name: "a", run });
    const { client } = openWorkerBench([kind]);
    const { taskId } = await client.enqueue(kind);
    await expect(client.waitFor(taskRef({ name: "b" }), taskId)).rejects.toThrow(
      "Expected `taskId` to be a task of kind `b`",
    );
  });
});

describe("a transaction that is none", () => {
  class Connection {
    query(): void {
      throw new Error("it isn't asked");
    }
  }
  test.each([
    [null, "null"],
    [new Connection(), "an instance of Connection"],
    ["begin", 'the text "begin"'],
  ])(
    "a transaction that is none is refused by each call that takes one, which names what makes one: %p",
    async (given, shown) => {
      const greet = defineTask({ name: "greet", run });
      const { client, store } = openWorkerBench([greet]);
      const options = { transaction: given as never };
      const refused = { code: "TASKGATE_ARG_INVALID", field: "transaction", value: shown } as const;
      await expectError(client.enqueue(greet, null, options), refused);
      await expectError(client.enqueueMany(greet, [null], options), refused);
      await expectError(client.enqueueAll([taskRequest(greet)], options), refused);
      const blocks = { watermark: "by-id", numeric: { to: 3, size: 1 } };
      await expectError(client.watermark.advance(greet, blocks, options), refused);
      await expect(client.enqueue(greet, null, options)).rejects.toThrow("`fromPg(client)`");
      expect((await store.listDefinitions({})).definitions).toEqual([]);
    },
  );
});
