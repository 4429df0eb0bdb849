import { describe, expect, test } from "@jest/globals";
import "../support/node-errors";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { loadSettings } from "../../shared/settings/load-settings";
import { checkStoreSchema, migrateStore, openStore } from "../../shared/store/open-store";
import { TaskClient } from "../../shared/worker/client/client";
import { defineTask } from "../../shared/worker/define/define-task";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";
import { withClient } from "../support/test-postgres";
import { inEmptyDatabase, rowsOf } from "./empty-database";
import { dumpSchema } from "./schema-dump";
import { taskRequest } from "../../shared/worker/define/task-ref";
import { quietEnvironment } from "../support/quiet-environment";

/*
 * Goal: a team that can't have the schema `taskgate` names another one and loses nothing. The whole slice runs there:
 * register, enqueue, work, finish, check_invariants.
 */
function environmentOf(store: TaskStore): WorkerEnvironment {
  return quietEnvironment(store, { workerName: "other schema" });
}

/** Enqueues ten tasks, one of which fails once, and works until nothing is left. */
async function runSlice(url: string, schema: string): Promise<string[]> {
  const store = openStore({ url, schema, connectionsMax: 4, random: realRandom, sleep });
  const environment = environmentOf(store);
  const texts: string[] = [];
  let failures = 0;
  const greet = defineTask<{ name: string }>({
    name: "greet",
    limit: 2,
    retry: { attempts: 3, baseMs: 0, capMs: 0 },
    groupKey: ({ name }) => name,
    run: async ({ name }) => {
      if (name === "fails once" && failures++ === 0) throw new Error("once");
      texts.push(`Hello ${name}`);
      return Promise.resolve({ text: `Hello ${name}` });
    },
  });
  const registry = createRegistry([greet]);
  const client = new TaskClient(environment, registry);
  const names = [...Array.from({ length: 9 }, (_, index) => `n${String(index % 3)}`), "fails once"];
  await client.enqueueAll(names.map((name) => taskRequest(greet, { name })));
  const deadlineMs = realClock.monotonicMs() + 20_000;
  while (texts.length < names.length && realClock.monotonicMs() < deadlineMs) {
    await runWorker(
      {
        environment,
        registry,
        heartbeat: new Heartbeat(environment),
        concurrencyPerWorker: 4,
        idleReads: 2,
        idlePauseMs: 20,
      },
      "greet",
      {
        deadlineMs,
        marginMs: 100,
        signal: new AbortController().signal,
      },
    );
  }
  expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  await store.close();
  return texts;
}

describe("TASKGATE_SCHEMA=other", () => {
  test("the setting reaches the store's address", () => {
    const settings = loadSettings({
      TASKGATE_DATABASE_URL: "postgres://localhost/x",
      TASKGATE_SCHEMA: "other",
    });
    expect(settings.schema).toBe("other");
  });

  test("the schema `other` has everything and runs; `taskgate` isn't created", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url, schema: "other" });
      expect(await migrateStore({ url, schema: "other" })).toEqual({
        applied: [],
        isLogicRenewed: false,
      });

      const texts = await runSlice(url, "other");

      expect(texts).toHaveLength(10);
      expect(
        await rowsOf(url, "select outcome, count(*)::int from other.archived group by 1"),
      ).toEqual([{ outcome: 10, count: 10 }]);
      expect(
        await rowsOf(
          url,
          `select nspname from pg_namespace where nspname = 'taskgate'
           union all select proname from pg_proc where pronamespace = 'other'::regnamespace and prosrc ~ '\\mtaskgate\\.'
           union all select proname from pg_proc, unnest(proconfig) c where pronamespace = 'other'::regnamespace and c ~ '\\mtaskgate\\M'`,
        ),
      ).toEqual([]);
    });
  });

  test.each(["user", "select", "all"])(
    "the schema's name may be a word of SQL: %s",
    async (schema) => {
      await inEmptyDatabase(async (url) => {
        await migrateStore({ url, schema });
        await rowsOf(
          url,
          `update "${schema}".schema_version set checksum = 'old' where version = 0`,
        );
        expect(await migrateStore({ url, schema })).toEqual({ applied: [], isLogicRenewed: true });
        await expect(checkStoreSchema({ url, schema })).resolves.toBeUndefined();

        expect(await runSlice(url, schema)).toHaveLength(10);
      });
    },
  );

  test("the schema is the same one under another name", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url });
      await migrateStore({ url, schema: "other" });

      const [left, right] = await withClient(url, async (client) => [
        await dumpSchema(client, "taskgate"),
        await dumpSchema(client, "other"),
      ]);

      expect(right.replace(/\bother\b/g, "taskgate")).toBe(left);
    });
  });

  test("two schemas of one database don't see each other", async () => {
    await inEmptyDatabase(async (url) => {
      await migrateStore({ url, schema: "another" });
      await migrateStore({ url, schema: "other" });

      const runs = await Promise.all([runSlice(url, "another"), runSlice(url, "other")]);

      expect(runs.map((texts) => texts.length)).toEqual([10, 10]);
    });
  });
});
