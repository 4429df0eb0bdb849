import { expect, test } from "@jest/globals";
import { callToSql } from "../../../shared/store/operations/new-tasks";
import type { NewTask } from "../../../shared/ports/task-store";

/* The two forms in which a call's tasks go to the database. */

const full: Required<NewTask> = {
  payload: '{"n":1}',
  kind: "letter",
  priority: 7,
  group: "g",
  groupScope: "global",
  runInMs: 5,
  runAt: new Date("2030-01-01T00:00:00.000Z"),
  dedupeKey: "k",
  dedupeMs: 9,
  onDuplicate: "keep",
  traceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

const others: Required<Omit<NewTask, "payload">> = {
  kind: "parcel",
  priority: 8,
  group: null,
  groupScope: "definition",
  runInMs: 6,
  runAt: new Date("2030-01-01T00:00:00.001Z"),
  dedupeKey: "l",
  dedupeMs: 10,
  onDuplicate: "replace",
  traceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
};

test("tasks that differ in their payloads alone are one entry, with the payloads beside it", () => {
  const again = { ...full, payload: "[2]", runAt: new Date(full.runAt) };
  const { tasks, payloads } = callToSql([full, again]);
  expect(payloads).toBe('[{"n":1},[2]]');
  const { traceParent, ...common } = full;
  const entry = { ...common, payload: null, runAt: full.runAt.toISOString(), trace: traceParent };
  expect(JSON.parse(tasks)).toEqual([entry]);
});

for (const name of Object.keys(others) as (keyof typeof others)[])
  test(`tasks of which one has another ${name} are an entry each, and so are those of which one has none`, () => {
    const { [name]: _left, ...without } = full;
    for (const last of [{ ...full, [name]: others[name] }, without as NewTask]) {
      const { tasks, payloads } = callToSql([full, full, last]);
      expect(payloads).toBeNull();
      expect(JSON.parse(tasks)).toHaveLength(3);
    }
  });

test("one task, and tasks of which one has no payload, are an entry each", () => {
  for (const tasks of [[full], [full, { ...full, payload: null }], [{ payload: null }, full]]) {
    const call = callToSql(tasks);
    expect(call.payloads).toBeNull();
    expect(JSON.parse(call.tasks)).toHaveLength(tasks.length);
  }
});
