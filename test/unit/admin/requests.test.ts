import { describe, expect, test } from "@jest/globals";
import { readEnqueueRequest } from "../../../shared/admin/enqueue-request";
import { readEvents } from "../../../shared/admin/event-requests";
import type { ReadResult } from "../../../shared/admin/read-result";
import {
  readDefinitionName,
  readHint,
  readLimitRequest,
  readListExecutionsQuery,
  readTaskId,
} from "../../../shared/admin/requests";
import { readListTasksQuery } from "../../../shared/admin/task-list-request";
import { readCancelRequest } from "../../../shared/admin/task-requests";

const operationId = "01234567-89ab-cdef-0123-456789abcdef";
const traceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

function valueOf<Value>(read: ReadResult<Value>): Value {
  if (read.ok) return read.value;
  throw new Error(JSON.stringify(read.problems));
}

function fieldsOf(read: ReadResult<unknown>): string[] {
  return read.ok ? [] : read.problems.map((problem) => problem.field);
}

describe("names and ids", () => {
  test("a name may be 200 UTF-16 units long and hold anything but blanks at its ends", () => {
    expect(readDefinitionName("😀".repeat(100)).ok).toBe(true);
    expect(readDefinitionName("😀".repeat(100) + "a").ok).toBe(false);
    expect(readDefinitionName("a b/c").ok).toBe(true);
    for (const bad of ["", " a", "a\u00a0", "a\u0000", "\ud800", 5, null])
      expect(readDefinitionName(bad).ok).toBe(false);
  });

  test("an id is a 64-bit number as text", () => {
    expect(valueOf(readTaskId("9223372036854775807"))).toBe("9223372036854775807");
    expect(valueOf(readTaskId(17))).toBe("17");
    for (const bad of ["9223372036854775808", "1e3", "-1", "", "0x1", 2 ** 53, null])
      expect(readTaskId(bad).ok).toBe(false);
  });
});

describe("an enqueue", () => {
  test("an enqueue of one task with all members becomes the store's own form", () => {
    const task = {
      kind: "k",
      priority: -5,
      group: "g",
      groupScope: "global",
      runInMs: 10,
      dedupeKey: "d",
      dedupeMs: 5,
      traceParent,
    };
    expect(valueOf(readEnqueueRequest({ payload: { a: 1 }, operationId, ...task }))).toEqual({
      tasks: [{ payload: '{"a":1}', ...task }],
      operationId,
    });
  });

  test("an enqueue of many keeps their order and names the entry of a problem", () => {
    const request = valueOf(readEnqueueRequest({ tasks: [{ payload: [1] }, { payload: null }] }));
    expect(request.tasks).toEqual([{ payload: "[1]" }, { payload: null }]);
    const bad = readEnqueueRequest({
      tasks: [{ payload: null }, { payload: 5, prioritty: 1 }, "x"],
    });
    expect(fieldsOf(bad)).toEqual(["tasks[1].prioritty", "tasks[1].payload", "tasks[2]"]);
  });

  test("an enqueue of 10,000 tasks passes, of more or of 8 MiB doesn't", () => {
    const many = (count: number, text: string) => ({
      tasks: Array.from({ length: count }, () => ({ payload: { text } })),
    });
    expect(readEnqueueRequest(many(10_000, "x")).ok).toBe(true);
    expect(fieldsOf(readEnqueueRequest(many(10_001, "x")))).toEqual(["tasks"]);
    expect(fieldsOf(readEnqueueRequest(many(200, "x".repeat(60_000))))).toEqual(["tasks"]);
  });

  test("an enqueue reads an instant with its zone, and refuses days that don't exist", () => {
    const at = (runAt: string) => readEnqueueRequest({ payload: null, runAt });
    expect(valueOf(at("2026-01-31T08:30:00+02:00")).tasks[0]?.runAt).toEqual(
      new Date("2026-01-31T06:30:00Z"),
    );
    for (const bad of [
      "2026-01-31",
      "2026-01-31T08:30:00",
      "2026-02-30T08:30:00Z",
      "2026-01-31T25:00:00Z",
      "tomorrow",
    ]) {
      expect(fieldsOf(at(bad))).toEqual(["runAt"]);
    }
  });

  test.each([
    [{ runInMs: 1, runAt: "2026-01-31T08:30:00Z" }, "runAt"],
    [{ groupScope: "global" }, "groupScope"],
    [{ dedupeMs: 5 }, "dedupeMs"],
  ])("an enqueue checks relations: %j", (members, field) => {
    expect(fieldsOf(readEnqueueRequest({ payload: null, ...members }))).toEqual([field]);
  });

  test("an enqueue counts a payload's bytes in UTF-8", () => {
    const ofLength = (length: number, character: string) =>
      readEnqueueRequest({ payload: [character.repeat(length)] });
    expect(ofLength(65_532, "a").ok).toBe(true);
    expect(ofLength(65_533, "a").ok).toBe(false);
    expect(ofLength(32_766, "ß").ok).toBe(true);
    expect(ofLength(32_767, "ß").ok).toBe(false);
  });

  test.each([
    ["U+0000 in a text", { a: "x\u0000" }],
    ["U+0000 in a name", { "x\u0000": 1 }],
    ["half a surrogate pair", { a: ["\udc00"] }],
    ["a number that parsing has changed", { id: 12345678901234567000 }],
    ["a text", "text"],
    ["a number", 5],
    ["true", true],
  ])("an enqueue refuses a payload with %s", (_, payload) => {
    expect(fieldsOf(readEnqueueRequest({ payload }))).toEqual(["payload"]);
  });

  test("an enqueue accepts 100 levels, and refuses more without running out of stack", () => {
    const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));
    expect(readEnqueueRequest({ payload: nested(100) }).ok).toBe(true);
    expect(fieldsOf(readEnqueueRequest({ payload: nested(102) }))).toEqual(["payload"]);
    expect(fieldsOf(readEnqueueRequest({ payload: nested(30_000) }))).toEqual(["payload"]);
  });

  test("an enqueue keeps large and small numbers that are exact", () => {
    const payload = { a: 2 ** 53 - 1, b: 1e300, c: 0.1, d: -0 };
    expect(valueOf(readEnqueueRequest({ payload })).tasks[0]?.payload).toBe(
      JSON.stringify(payload),
    );
  });
});

describe("other requests", () => {
  test.each([
    [{ limit: null }],
    [{ limit: 0 }],
    [{ limit: 1_000, reason: "load" }],
    [{ limit: "code", operationId }],
  ])("a request for a limit reads %j", (body) => {
    expect(valueOf(readLimitRequest(body))).toEqual(body);
  });

  test("a bad id in a list of ids is named", () => {
    const read = readCancelRequest({ tasks: ["1", 2, "three", "4"] });
    expect(read).toEqual({
      ok: false,
      problems: [
        {
          field: "tasks[2]",
          value: '"three"',
          expected: "the id of a task: 1..19 decimal digits, below 2^63",
        },
      ],
    });
    expect(readCancelRequest({ tasks: [] })).toMatchObject({
      problems: [{ field: "tasks", value: "an array of 0" }],
    });
  });

  test("queries have defaults", () => {
    expect(valueOf(readListTasksQuery({}))).toEqual({ max: 100 });
    expect(valueOf(readListExecutionsQuery({ open: "false", max: "7", definition: "a" }))).toEqual({
      definition: "a",
      isOpen: false,
      max: 7,
    });
  });

  test("a near name is proposed for an unknown member and an unknown word", () => {
    const member = readLimitRequest({ limt: 3 });
    const word = readListTasksQuery({ state: "reday" });
    expect(JSON.stringify(member)).toContain("Did you mean `limit`?");
    expect(JSON.stringify(word)).toContain("Did you mean `ready`?");
  });

  test("a member called __proto__ is unknown like any other", () => {
    expect(fieldsOf(readLimitRequest(JSON.parse('{"limit":1,"__proto__":{"x":1}}')))).toEqual([
      "__proto__",
    ]);
  });
});

describe("a hint", () => {
  test.each([
    [{ taskDefinition: "a" }, { taskDefinition: "a" }],
    [
      { taskDefinition: "a", traceParent },
      { taskDefinition: "a", traceParent },
    ],
    [{ taskDefinition: "a", traceParent: "broken" }, { taskDefinition: "a" }],
    ['{"taskDefinition":"a"}', { taskDefinition: "a" }],
    ['"{\\"taskDefinition\\":\\"a\\"}"', { taskDefinition: "a" }],
    ["resize-image", { taskDefinition: "resize-image" }],
    [2024, { taskDefinition: "2024" }],
    [{ taskDefinition: 2024 }, { taskDefinition: "2024" }],
  ])("a hint may arrive as %j", (message, hint) => {
    expect(valueOf(readHint(message))).toEqual(hint);
  });

  test.each([
    [null],
    [undefined],
    [true],
    [[]],
    [{}],
    [""],
    ["{"],
    [{ definition: "a" }],
    [{ taskDefinition: "" }],
    [NaN],
  ])("a hint is refused when it is %j", (message) => {
    expect(readHint(message).ok).toBe(false);
  });
});

describe("an event", () => {
  const event = { id: "1", source: "/a", type: "landed", subject: "", time: null, data: {} };

  test("an event is read in our own form, as text, too", () => {
    const own = { eventId: "1", source: "/a", type: "landed" };
    expect(valueOf(readEvents(own))).toEqual([event]);
    expect(valueOf(readEvents(JSON.stringify([own, own])))).toEqual([event, event]);
  });

  test("an event is read as CloudEvents 1.0 with extensions", () => {
    const cloud = {
      specversion: "1.0",
      id: "1",
      source: "/a",
      type: "landed",
      datacontenttype: "application/json",
      traceparent: traceParent,
    };
    expect(
      valueOf(readEvents({ ...cloud, time: "2026-01-31T08:30:00Z", data: { url: "u" } })),
    ).toEqual([{ ...event, time: "2026-01-31T08:30:00Z", data: { url: "u" } }]);
    expect(fieldsOf(readEvents({ ...cloud, specversion: "0.3" }))).toEqual(["specversion"]);
  });

  test("an event is read in Event Grid's schema", () => {
    const grid = {
      id: "1",
      topic: "/a",
      subject: "/blobs/x",
      eventType: "Microsoft.Storage.BlobCreated",
      eventTime: "2026-01-31T08:30:00Z",
      dataVersion: "",
      metadataVersion: "1",
      data: { url: "u" },
    };
    expect(valueOf(readEvents([grid]))).toEqual([
      {
        id: "1",
        source: "/a",
        type: grid.eventType,
        subject: "/blobs/x",
        time: grid.eventTime,
        data: { url: "u" },
      },
    ]);
  });

  test.each([
    [null],
    [5],
    ["x"],
    [[]],
    [{}],
    [{ eventId: null, source: "/a", type: "t" }],
    [{ eventId: "1", source: "/a", type: "t", data: 5 }],
  ])("an event is refused when it is %j", (message) => {
    expect(readEvents(message).ok).toBe(false);
  });
});
