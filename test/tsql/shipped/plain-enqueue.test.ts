import { describe, expect, test } from "@jest/globals";
import { runAlone } from "../../tsql-server/schedule/step";
import { callOf } from "../../tsql-server/engine/call";
import type { World } from "../../tsql-server/engine/world";
import type { SqlValue } from "../../tsql-server/values";
import { engines } from "./engines";
import { plainDefinition } from "./plain-definition";
import { shippedWorld } from "./shipped-world";

/*
 * Entries that say no more than payload, kind, priority and trace go a short way through EnqueueTasks. No caller may see it: a
 * definition whose code names another kind goes the long way with the same entries.
 */

interface Seen {
  /** The answer, with ids as their places; or the error. */
  readonly answer: unknown;
  readonly rows: unknown;
  /** Does the call need few statements? */
  readonly isShort: boolean;
}

const template = shippedWorld(engines.azure);
const operationId = "0f8fad5b-d9cb-469f-a165-70867728950e";
const trace = `00-${"0af7651916cd43dd".repeat(2)}-b7ad6b7169203331-01`;
const plain = { payload: '{"a":1}' };

function run(world: World, sql: string): SqlValue[][] {
  const answer = runAlone(world.connect(), { kind: "batch", sql });
  expect(answer.errors).toEqual([]);
  return answer.rowSets.at(-1)?.rows ?? [];
}

function enqueueBy(way: "short" | "long", given: Readonly<Record<string, SqlValue>>): Seen {
  const world = template.fork();
  world.isMetered = true;
  const connection = world.connect();
  const other = '[{"kind":"another kind","priority":5}]';
  const registration = { Name: "mail", ...plainDefinition, Kinds: way === "long" ? other : null };
  runAlone(connection, callOf(world, "Taskgate.RegisterDefinition", registration));
  const request = callOf(world, "Taskgate.EnqueueTasks", { Name: "mail", Build: 1, ...given });
  const answer = runAlone(connection, request);
  const statements = connection.meter?.call.statements ?? 0;
  const again = given["OperationId"] === undefined ? undefined : runAlone(connection, request);
  return {
    answer: {
      first: answer.objects(),
      errors: answer.errors.map(({ number, message }) => `${String(number)} ${message}`),
      again: again?.objects(),
    },
    rows: [
      run(
        world,
        `SELECT t.TaskId, t.Kind, t.Priority, t.DueAt, t.GroupId, t.PendingGroupKey, t.WaveId, t.DedupeKey, t.Build, t.TraceParent,
                CONVERT(nvarchar(max), t.PayloadUtf8) AS Payload, t.FailedCount, t.Rank
         FROM Taskgate.Task AS t ORDER BY t.TaskId;`,
      ),
      run(world, "SELECT r.Priority, r.Rank, r.TaskId, r.IsSolo FROM Taskgate.Ready AS r;"),
      run(world, "SELECT s.TaskId FROM Taskgate.Scheduled AS s;"),
      run(
        world,
        "SELECT o.OperationId, o.Name, o.Answer FROM Taskgate.Operation AS o WHERE o.Name = N'enqueue_tasks';",
      ),
    ],
    isShort: statements < 20,
  };
}

function compare(given: Readonly<Record<string, SqlValue>>): Seen {
  const [short, long] = [enqueueBy("short", given), enqueueBy("long", given)];
  expect([short.answer, short.rows]).toEqual([long.answer, long.rows]);
  expect(long.isShort && JSON.stringify(long.answer).includes("enqueued")).toBe(false);
  return short;
}

type Case<Tasks> = [title: string, tasks: Tasks, payloads?: string];

describe("entries that say no more than payload, kind, priority and trace", () => {
  test.each<Case<unknown>>([
    ["a payload", [plain]],
    ["no payload", [{}, { payload: null }]],
    ["a payload that isn't a text", [{ payload: { a: [1, "ä"] } }, { payload: [] }]],
    ["all four members", [{ ...plain, kind: "b", priority: -32_768, trace }]],
    ["members that are null", [{ payload: null, kind: null, priority: null, trace: null }]],
    ["other values in each entry", [{ kind: "b" }, { priority: 7, trace }, plain, { kind: "ä" }]],
    ["a payload with members named as options are", [{ payload: '{"x":{"group":"a","runAt":1}}' }]],
    ["a payload with characters beyond U+FFFF", [{ payload: '{"a":"😀"}' }]],
    ["blanks around a payload", [{ payload: ' \n{"a":1} ' }]],
    ["payloads apart", [{ kind: "b", priority: 3, trace }], ' [{"a":1} , [2], {"a":"😀"}]'],
    [
      "the longest payload",
      [{ payload: JSON.stringify("x".repeat(65_526)).replace(/.*/, '{"a":$&}') }],
    ],
  ])("EnqueueTasks takes the short way with %s", (...[, tasks, payloads]) => {
    const given = {
      Tasks: JSON.stringify(tasks),
      ...(payloads !== undefined && { Payloads: payloads }),
    };
    expect(compare(given)).toMatchObject({ isShort: true });
    compare({ ...given, OperationId: operationId });
    compare({ ...given, IsChecked: 1 });
  });

  test.each<Case<string>>([
    [
      "a group behind 4,000 characters",
      JSON.stringify([{ payload: JSON.stringify({ a: "x".repeat(5_000) }) }, { group: "g" }]),
    ],
    ["a group whose name has an escape", String.raw`[{"\u0067roup":"g"}]`],
    ["a key", '[{"dedupeKey":"k"}]'],
    ["a delay", '[{"runInMs":60000}]'],
    ["a delay of none", '[{"runInMs":0}]'],
    ["an instant", '[{"runAt":"2999-01-01T00:00:00Z"}]'],
    ["an option that is null", '[{"groupScope":null}]'],
    ["a scope without a group", '[{"groupScope":"everywhere"}]'],
    ["onDuplicate without a key", '[{"onDuplicate":"replace"}]'],
    ["a member that is there twice", '[{"kind":"a","kind":"b"}]'],
    ["an unknown member", '[{"payload":null,"kinds":"a"}]'],
    ["a member with a blank behind its name", '[{"kind ":"a"}]'],
    ["a kind that is a number", '[{"kind":7}]'],
    ["a kind that is an object", '[{"kind":{"a":1}}]'],
    ["a kind with a blank at its end", '[{"kind":"a "}]'],
    ["an empty kind", '[{"kind":""}]'],
    ["a kind of 201 characters", JSON.stringify([{ kind: "k".repeat(201) }])],
    ["a priority that is a text", '[{"priority":"7"}]'],
    ["a priority that is true", '[{"priority":true}]'],
    ["a priority that is an array", '[{"priority":[7]}]'],
    ["a priority with a fraction", '[{"priority":1.5}]'],
    ["a priority out of range", '[{},{"priority":32768}]'],
    ["a trace that is none", '[{"trace":"x"}]'],
    ["a trace in capitals", JSON.stringify([{ trace: trace.toUpperCase() }])],
    ["a trace with dashes elsewhere", JSON.stringify([{ trace: trace.replace("0a", "-a") }])],
    ["a trace that is a number", '[{"trace":7}]'],
    ["a payload that is a number", '[{},{"payload":7}]'],
    ["a payload that is the text of a number", '[{"payload":"7"}]'],
    ["a payload that is no JSON", '[{"payload":"{"}]'],
    ["an empty payload", '[{"payload":""}]'],
    ["a payload that is true", '[{"payload":true}]'],
    ["a payload with half a surrogate pair", String.raw`[{"payload":"{\"a\":\"\ud800\"}"}]`],
    [
      "a payload that is too long",
      JSON.stringify([{ payload: JSON.stringify({ a: "x".repeat(65_529) }) }]),
    ],
    ["an entry that is no object", '[{},"x"]'],
    ["an entry that is an array", "[[]]"],
    ["no entry", "[]"],
    ["no array", '{"payload":"{}"}'],
    ["no JSON", "[{]"],
    ["a text that ends too early", '[{"payload":"{}"}'],
    ["a payload beside payloads", '[{"payload":"{}"}]', "[{}]"],
    ["two entries beside payloads", "[{},{}]", "[{}]"],
    ["payloads that are no JSON", "[{}]", "[{}"],
    ["payloads that are no array", "[{}]", "{}"],
    ["a payload apart that is null", "[{}]", "[{},null]"],
    ["a payload apart that is a number", "[{}]", "[{},7]"],
    ["no payload apart", "[{}]", "[]"],
    ["a group beside payloads", '[{"group":"g"}]', "[{},{}]"],
  ])("EnqueueTasks goes the long way with %s", (...[, tasks, payloads]) => {
    const given = { Tasks: tasks, ...(payloads !== undefined && { Payloads: payloads }) };
    compare(given);
    compare({ ...given, OperationId: operationId });
    compare({ ...given, IsChecked: 1 });
  });

  test("EnqueueTasks counts entries alike on both ways, at the limit and one beyond", () => {
    const many = JSON.stringify(Array.from({ length: 10_001 }, () => ({})));
    expect(compare({ Tasks: many }).answer).toMatchObject({
      errors: ["50413 tasks: expected 1..10000 entries (10001)"],
    });
    const payloads = JSON.stringify(Array.from({ length: 10_001 }, () => ({})));
    expect(compare({ Tasks: "[{}]", Payloads: payloads }).answer).toMatchObject({
      errors: ["50413 tasks: expected 1..10000 entries (10001)"],
    });
  });
});
