import { describe, expect, test } from "@jest/globals";
import {
  fitsWithNote,
  readDelivery,
  writePutBack,
  writeRefused,
} from "../../../shared/admin/delivery";
import { readEachEvent, readEvents } from "../../../shared/admin/event-requests";
import { readHint } from "../../../shared/admin/requests";

const event = { eventId: "1", source: "/a", type: "landed" };
const textOf = (length: number): string => "x".repeat(length);

describe("a message that is put back", () => {
  test("a message that is put back is read as it came, with its count, as text or parsed", () => {
    const text = writePutBack(event, 3) ?? "";
    expect(readDelivery(text)).toEqual({ tries: 3, reason: null, message: event });
    expect(readDelivery(JSON.parse(text))).toEqual({ tries: 3, reason: null, message: event });
  });

  test("a message that is put back has no members on top that would hide the host's own", () => {
    const members = Object.keys(JSON.parse(writePutBack(event, 1) ?? "") as object);
    expect(members).toEqual(["taskgate", "message"]);
  });

  test("a message that is put back goes without its count where both don't fit into a queue's message", () => {
    const large = { ...event, data: { text: textOf(49_152 - 80) } };
    expect(fitsWithNote(large, 1)).toBe(false);
    expect(readDelivery(writePutBack(large, 7))).toMatchObject({ tries: 0 });
    expect(readEvents(writePutBack(large, 7))).toMatchObject({ ok: true });
    expect(writePutBack({ text: textOf(49_152) }, 1)).toBeNull();
  });
});

describe("a message that is refused", () => {
  test("a refused message stands in the poison queue with its reason and is read as it came when it is moved back", () => {
    const text = writeRefused(event, "No route takes it") ?? "";
    expect(JSON.parse(text)).toEqual({
      taskgate: { reason: "No route takes it" },
      message: event,
    });
    expect(readDelivery(text)).toEqual({ tries: 0, reason: "No route takes it", message: event });
  });

  test("a refused message that isn't JSON keeps its text", () => {
    expect(readDelivery(writeRefused("{ broken", "Not an event"))).toEqual({
      tries: 0,
      reason: "Not an event",
      message: "{ broken",
    });
  });

  test("a refused message keeps numbers that are larger than all others: moved back, it is refused again and not taken with null", () => {
    const huge: unknown = JSON.parse(
      '{"eventId":"1","source":"/a","type":"t","data":{"n":[1e400,-1e400]}}',
    );
    const text = writeRefused(huge, "Not an event") ?? "";
    expect(readDelivery(JSON.parse(text)).message).toEqual(huge);
    expect(readEvents(readDelivery(text).message)).toMatchObject({ ok: false });
  });

  test("a refused message goes without the reason where both don't fit", () => {
    const large = { text: textOf(48_500) };
    expect(JSON.parse(writeRefused(large, textOf(900)) ?? "")).toEqual(large);
  });
});

describe("a message without an envelope", () => {
  test.each([
    ["an event", event],
    ["an event with a member of that name", { ...event, taskgate: {}, message: 1 }],
    ["a text", "greet"],
    ["nothing", null],
    ["a note alone", { taskgate: { tries: 1 } }],
    ["a damaged note", { taskgate: 1, message: event }],
  ])("%s is taken as it is", (_, message) => {
    expect(readDelivery(message)).toEqual({ tries: 0, reason: null, message });
  });

  test.each([-1, 1.5, "many", null])("a count of %j counts as none", (tries) => {
    expect(readDelivery({ taskgate: { tries }, message: "greet" })).toEqual({
      tries: 0,
      reason: null,
      message: "greet",
    });
  });

  test("a hint in an envelope is a hint", () => {
    const { message } = readDelivery(writePutBack({ taskDefinition: "greet" }, 2));
    expect(readHint(message)).toEqual({ ok: true, value: { taskDefinition: "greet" } });
  });
});

describe("readEachEvent", () => {
  test("readEachEvent reads each event of an array for itself, with its original text", () => {
    const bad = { eventId: "2", source: "/a" };
    const each = readEachEvent([event, bad]);
    expect(each).toMatchObject({
      ok: true,
      value: [
        { given: event, read: { ok: true } },
        { given: bad, read: { ok: false, problems: [{ field: "type" }] } },
      ],
    });
  });

  test("readEachEvent refuses an empty array and one of more than 1,000 events as a whole", () => {
    const many = Array.from({ length: 1_001 }, () => event);
    expect([readEachEvent([]).ok, readEachEvent(many).ok]).toEqual([false, false]);
  });
});

describe("data of CloudEvents", () => {
  const cloud = { specversion: "1.0", id: "1", source: "/a", type: "landed" };
  const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
  const readOne = (given: object) => {
    const events = readEvents(given);
    return events.ok ? events.value[0]?.data : events.problems;
  };

  test("`data_base64` that is a JSON object is taken", () => {
    expect(readOne({ ...cloud, data_base64: base64('{"größe":1}') })).toEqual({ größe: 1 });
  });

  test.each([
    ["bytes", base64("\u0000\u0001")],
    ["a text", base64('"text"')],
    ["no base64", "%%%"],
    ["a number", 5],
  ])("`data_base64` that is %s is refused with what to write instead", (_, value) => {
    expect(readOne({ ...cloud, data_base64: value })).toEqual([
      expect.objectContaining({
        field: "data_base64",
        expected: expect.stringContaining("base64 of a JSON object"),
      }),
    ]);
  });

  test("`data` and `data_base64` together are refused", () => {
    const both = { ...cloud, data: {}, data_base64: base64("{}") };
    expect(readOne(both)).toEqual([expect.objectContaining({ field: "data_base64" })]);
  });

  test.each([["text"], [5], [[1]], [true]])("`data` that is %j is refused", (data) => {
    expect(readOne({ ...cloud, data })).toEqual([
      expect.objectContaining({
        field: "data",
        expected: expect.stringContaining("a JSON object: text, numbers, arrays"),
      }),
    ]);
  });
});
