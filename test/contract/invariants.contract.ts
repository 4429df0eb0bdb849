import { describe, expect, test } from "@jest/globals";
import type { StoreDialect } from "../../shared/ports/task-store";
import {
  at,
  define,
  enqueue,
  enqueueOne,
  registration,
  setLimit,
  startWorker,
  statusOf,
} from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/**
 * P3: `check_invariants` finds nothing after any test of this suite (useStore looks), nothing in odd but legal states,
 * and each planted fault.
 */
export function describeInvariants(setup: StoreSetup): void {
  describe("check_invariants finds nothing", () => {
    describeSound(setup);
  });
  describe("check_invariants finds", () => {
    describeFaults(setup);
  });
}

function describeSound(setup: StoreSetup): void {
  const open = useStore(setup);

  test("in an empty store", async () => {
    expect(await open().store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("while more is held than a lowered limit, also at limit 0", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    await startWorker(store, name, { want: 4 });
    await setLimit(store, name, 0);
    expect((await store.checkInvariants()).status).toBe("sound");
  });

  test("when the spare bound gets stricter while spare claims are out", async () => {
    const { store } = open();
    const input = registration({ settings: { spareMax: 3 } });
    await store.registerDefinition(input);
    await enqueue(store, input.name, 4);
    const worker = await startWorker(store, input.name);
    expect(await worker.claim(4)).toHaveLength(4);
    const settings = { ...input.settings, spareMax: 0 };
    await store.registerDefinition({ ...input, build: 2, settings });
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("when a worker returned tokens of handlers that ended before it told so", async () => {
    const { store } = open();
    const name = await define(store, { limit: 2, spareMax: 0 });
    await enqueue(store, name, 2);
    const worker = await startWorker(store, name, { want: 2 });
    await worker.claim(2);
    await store.releaseTokens({ executionId: worker.executionId, keep: 1 });
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("while a dead holder keeps claims that nobody took back yet", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: 1, leaseMs: 10_000 });
    await enqueue(store, name, [{ group: "g" }, { group: "g" }]);
    const worker = await startWorker(store, name);
    await worker.claimOne();
    await opened.advance(10_001);
    await startWorker(store, name);
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });

  test("with a strict group's retry, a continued task, keys with and without windows, no limit", async () => {
    const opened = open();
    const { store } = opened;
    const name = await define(store, { limit: null, groupStrict: true });
    await enqueue(store, name, [
      { group: "g", dedupeKey: "a" },
      { group: "g", dedupeKey: "b", dedupeMs: 1_000 },
      { dedupeKey: "c", dedupeMs: 1_000 },
    ]);
    const worker = await startWorker(store, name, { want: 3 });
    const [first, third] = await worker.claim(3);
    if (!first || !third) throw new Error("two tasks expected");
    await worker.fail([first], { retryInMs: 60_000 });
    await worker.fail([third], { as: "continued", retryInMs: 60_000, checkpoint: "[]" });
    await opened.advance(2_000);
    expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  });
}

/** A fault, and the word by which the finding's rule must be known. */
interface Fault {
  title: string;
  rule: RegExp;
  sql: string;
}

/**
 * The scene (see `plantScene`): definition `one` (limit 3) with tasks ready, scheduled, waiting, claimed, done; definition
 * `two`. `{task}` in a fault stands for an ungrouped ready task of it.
 */
const faults: Record<Exclude<StoreDialect, "model">, Fault[]> = {
  postgres: [
    {
      title: "a task that stands nowhere",
      rule: /exactly one place/,
      sql: "delete from taskgate.ready where task_id = {task}",
    },
    {
      title: "a task that stands in two places",
      rule: /exactly one place/,
      sql: `insert into taskgate.scheduled (task_definition_id, run_at, task_id)
            select task_definition_id, now(), task_id from taskgate.ready where task_id = {task}`,
    },
    {
      title: "a task claimed by two",
      rule: /exactly one place/,
      sql: `insert into taskgate.task_execution (operation_id, task_definition_id, state, started_at, lease_until, worker,
              inflight, inflight_fence, inflight_at)
            select gen_random_uuid(), task_definition_id, 1, now(), now() + interval '1 h', 'x', inflight, inflight_fence, inflight_at
              from taskgate.task_execution where cardinality(inflight) > 0`,
    },
    {
      title: "a place whose task is gone",
      rule: /only tasks that exist/,
      sql: "delete from taskgate.task where task_id = {task}",
    },
    {
      title: "a task under another definition",
      rule: /its own definition/,
      sql: `update taskgate.ready set task_definition_id =
              (select task_definition_id from taskgate.task_definition where name = 'invariants-two') where task_id = {task}`,
    },
    {
      title: "a finished task that is unfinished, too",
      rule: /finished task is not unfinished/,
      sql: `insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at)
            select task_id, task_definition_id, kind, priority, created_at from taskgate.archive`,
    },
    {
      title: "a ready task out of its order",
      rule: /carry their task's order/,
      sql: "update taskgate.ready set priority = 1 where task_id = {task}",
    },
    {
      title: "claims of an ended execution",
      rule: /holds claims/,
      sql: "update taskgate.task_execution set state = 2 where cardinality(inflight) > 0",
    },
    {
      title: "a claim without a fence",
      rule: /of one length/,
      sql: "update taskgate.task_execution set inflight_fence = '{}' where cardinality(inflight) > 0",
    },
    {
      title: "a spare claim that is none",
      rule: /spare claims are claims/,
      sql: "update taskgate.task_execution set spare = '{999999999}' where cardinality(inflight) > 0",
    },
    {
      title: "a token text that can't be read",
      rule: /token string can be read/,
      sql: "update taskgate.task_definition set execution_tokens = 'tokens' where name = 'invariants-one'",
    },
    {
      title: "a held token that nobody holds",
      rule: /held token has a grantee/,
      sql: `update taskgate.task_definition set execution_tokens = regexp_replace(execution_tokens, 'S:0,G:[0-9]+', 'S:0,G:0')
             where name = 'invariants-one'`,
    },
    {
      title: "a token that was granted twice",
      rule: /tokens held equal tokens counted/,
      sql: `update taskgate.task_definition set execution_tokens = regexp_replace(execution_tokens, 'S:1,G:0',
              'S:0,G:' || (select max(task_execution_id) from taskgate.task_execution where state = 1)) where name = 'invariants-one'`,
    },
    {
      title: "a counted token that isn't in the text",
      rule: /tokens held equal tokens counted/,
      sql: "update taskgate.task_execution set token_count = token_count + 1 where state = 1",
    },
    {
      title: "more free tokens than the limit",
      rule: /free tokens do not exceed the limit/,
      sql: "update taskgate.task_definition set concurrency_limit = 1 where name = 'invariants-one'",
    },
    {
      title: "a token text without a limit",
      rule: /without a limit/,
      sql: "update taskgate.task_definition set concurrency_limit_override = -1 where name = 'invariants-one'",
    },
    {
      title: "a group with more tasks than slots",
      rule: /at most its slots/,
      sql: `insert into taskgate.group_slot (group_id, slot, task_id)
            select group_id, 2, task_id from taskgate.group_waiting`,
    },
    {
      title: "a grouped ready task without a slot",
      rule: /holds one slot/,
      sql: "delete from taskgate.group_slot",
    },
    {
      title: "a slot held by a finished task",
      rule: /slot is held by a task of the group/,
      sql: "update taskgate.group_slot set task_id = (select task_id from taskgate.archive)",
    },
    {
      title: "a task that waits beside a free slot",
      rule: /free slot lets nobody wait/,
      sql: "update taskgate.task_group set slots = 2",
    },
    {
      title: "a key whose task has ended",
      rule: /key without a window/,
      sql: `insert into taskgate.dedupe (task_definition_id, dedupe_key, task_id)
            select task_definition_id, 'left over', task_id from taskgate.archive`,
    },
    {
      title: "a wave that miscounts",
      rule: /wave counts/,
      sql: "insert into taskgate.wave_shard (wave_id, shard, remaining) values (1, 0, 5)",
    },
  ],
  mssql: [],
};

/** Tasks in every state; returns an ungrouped ready one. */
async function plantScene(opened: TestStore): Promise<string> {
  const { store } = opened;
  const one = await define(store, { limit: 3 }, "invariants-one");
  await define(store, {}, "invariants-two");
  await enqueue(store, one, 2);
  const worker = await startWorker(store, one);
  await worker.complete(await worker.claim(1), 1);
  const task = await enqueueOne(store, one);
  await enqueue(store, one, [{ runInMs: 60_000 }, { group: "g" }, { group: "g" }]);
  expect(await statusOf(store, one)).toMatchObject({
    ready: 2,
    scheduled: 1,
    waiting: 1,
    claimed: 1,
    done: 1,
  });
  return task;
}

function describeFaults(setup: StoreSetup): void {
  const open = useStore(setup);
  const planted = setup.dialect === "model" ? [] : faults[setup.dialect];

  for (const { title, rule, sql } of planted) {
    testWith(setup, "raw sql")(`V4: ${title}`, async () => {
      const opened = open();
      const task = await plantScene(opened);
      expect((await opened.store.checkInvariants()).status).toBe("sound");
      opened.expectDamage();
      await opened.raw(sql.replaceAll("{task}", task));
      const { status, findings } = await opened.store.checkInvariants();
      expect(status).toBe("broken");
      const found = findings.filter((finding) => rule.test(finding.rule));
      expect(found).not.toHaveLength(0);
      expect(at(found, 0).key).not.toBe("");
      expect(at(found, 0).detail).not.toBe("");
    });
  }

  testWith(setup, "token text")(
    "V4: a token text that can't be read, and goes on with the rest",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      await opened.writeTokens(name, "tokens");
      opened.expectDamage();
      const { status, findings } = await store.checkInvariants();
      expect(status).toBe("broken");
      expect(findings.map((finding) => finding.key)).toContain(name);
    },
  );
}
