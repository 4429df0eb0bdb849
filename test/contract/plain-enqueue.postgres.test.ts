import { expect, test } from "@jest/globals";
import { define, statusOf } from "../support/builders";
import { useContention } from "../support/use-contention";

/*
 * On PostgreSQL, entries that say no more than payload, kind, priority and trace go a short way. No caller may see it.
 */
const scene = useContention();

async function enqueue(tasks: string): Promise<{ name: string; answer: () => Promise<unknown> }> {
  const name = await define(scene.openStore(2), { limit: 4 });
  const session = await scene.connect("worker");
  const answer = async (): Promise<unknown> =>
    (await session.query("select * from taskgate.enqueue_tasks($1, 1, $2)", [name, tasks])).rows[0];
  return { name, answer };
}

test("an option counts, too, when its name is written with an escape", async () => {
  const { answer } = await enqueue(String.raw`[{"payload":"{}","\u0067roup":"customer-1"}]`);
  await answer();
  const { rows } = await scene.client.query("select pending_group_key from taskgate.task");
  expect(rows).toEqual([{ pending_group_key: "customer-1" }]);
});

test("a payload may have members that are named as options are", async () => {
  const payload = JSON.stringify({ group: "customer-1", runInMs: 9, dedupeKey: "k" });
  const { answer } = await enqueue(JSON.stringify([{ payload, priority: 7 }, { payload }]));
  const { task_ids: ids, ready } = (await answer()) as { task_ids: string; ready: boolean };
  expect(ready).toBe(true);
  const { rows } = await scene.client.query<Record<string, unknown>>(
    `select t.task_id as id, r.priority, t.payload, t.group_id, t.pending_group_key, t.dedupe_key
       from taskgate.task t join taskgate.ready r using (task_id) order by t.task_id`,
  );
  const common = { payload, group_id: null, pending_group_key: null, dedupe_key: null };
  const [first, second] = JSON.parse(ids) as string[];
  expect(rows).toEqual([
    { id: first, priority: 7, ...common },
    { id: second, priority: 100, ...common },
  ]);
});

test.each([
  ["a payload that is no JSON", { payload: "{" }, "tasks[1].payload"],
  ["a payload that is a number", { payload: "1" }, "tasks[1].payload"],
  ["a priority that is out of range", { payload: "{}", priority: 40_000 }, "tasks[1].priority"],
  ["a kind with a blank at its end", { payload: "{}", kind: "a " }, "tasks[1].kind"],
  ["a trace that is none", { payload: "{}", trace: "x" }, "tasks[1].trace"],
])("%s is named with its entry, and no task is added", async (_, bad, place) => {
  const { name, answer } = await enqueue(JSON.stringify([{ payload: "{}" }, bad]));
  await expect(answer()).rejects.toThrow(place);
  expect(await statusOf(scene.openStore(1), name)).toMatchObject({ ready: 0 });
});

/** Of many plain entries, the last one says more; the text before it is longer than what is looked at first. */
function lastOfMany(last: object): string {
  const plain = { payload: JSON.stringify({ text: "x".repeat(300) }) };
  return JSON.stringify([...Array.from({ length: 99 }, () => plain), { ...plain, ...last }]);
}

test("each option of the last of many entries counts", async () => {
  const options: [last: object, expected: object][] = [
    [{ group: "g" }, { pending_group_key: "g", is_scheduled: true }],
    [{ runInMs: 60_000 }, { is_scheduled: true }],
    [{ runAt: "2999-01-01T00:00:00Z" }, { is_scheduled: true }],
    [{ dedupeKey: "k" }, { dedupe_key: "k" }],
  ];
  const plain = { pending_group_key: null, dedupe_key: null, is_scheduled: false };
  for (const [last, expected] of options) {
    const { name, answer } = await enqueue(lastOfMany(last));
    await answer();
    const { rows } = await scene.client.query(
      `select t.pending_group_key, t.dedupe_key, s.task_id is not null as is_scheduled
         from taskgate.task t join taskgate.task_definition d using (task_definition_id) left join taskgate.scheduled s using (task_id)
        where d.name = $1 order by t.task_id`,
      [name],
    );
    expect(rows).toEqual([...Array.from({ length: 99 }, () => plain), { ...plain, ...expected }]);
  }
});

test("a bad option of the last of many entries is named with its entry", async () => {
  const options = {
    groupScope: "everywhere",
    runInMs: -1,
    runAt: "soon",
    dedupeMs: 0,
    onDuplicate: "merge",
  };
  for (const [option, value] of Object.entries(options)) {
    const { answer } = await enqueue(lastOfMany({ [option]: value }));
    await expect(answer()).rejects.toThrow(`tasks[99].${option}`);
  }
});
