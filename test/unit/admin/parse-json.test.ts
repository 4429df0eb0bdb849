import { describe, expect, test } from "@jest/globals";
import { readDelivery, writeRefused } from "../../../shared/admin/delivery";
import { readEachEvent } from "../../../shared/admin/event-requests";
import { parseJson } from "../../../shared/admin/parse-json";
import { readHint } from "../../../shared/admin/requests";

test("a problem is named below where the text stands", () => {
  const fieldOf = (text: string, at: string): string | undefined => {
    const read = parseJson(text, { root: "--payload", at });
    return read.ok ? undefined : read.problems[0]?.field;
  };
  expect(fieldOf("1e309", "--payload")).toBe("--payload");
  expect(fieldOf('{"a":[1e309]}', "--payload")).toBe("--payload.a[0]");
  expect(fieldOf("[1e309]", "--payload")).toBe("--payload[0]");
  expect(fieldOf('{"a":1e309}', "")).toBe("a");
  expect(fieldOf('{"a":1}', "")).toBeUndefined();
  expect(() => fieldOf('{"a"', "")).toThrow(SyntaxError);
});

describe("messages", () => {
  const event = { eventId: "1", source: "/a", type: "landed" };

  test("a text inside a text is scanned, too", () => {
    const text = `{"eventId":"1","source":"/a","type":"landed","data":{"n":1e309}}`;
    for (const message of [text, JSON.stringify(text)])
      expect(readEachEvent(message)).toMatchObject({
        ok: false,
        problems: [{ field: "message.data.n", value: "1e309" }],
      });
  });

  test.each([
    ["1e309", Infinity],
    ["25 digits", 1.2345678901234568e24],
    ["beyond 2^53", 2 ** 53],
  ])("a number of a parsed event that may have been changed is refused: %s", (_, n) => {
    expect(readEachEvent({ ...event, data: { n } })).toMatchObject({
      value: [{ read: { ok: false, problems: [{ field: "data" }] } }],
    });
  });

  test("bytes of a CloudEvent are scanned", () => {
    const bytes = Buffer.from(`{"n":1e309}`).toString("base64");
    const cloud = { specversion: "1.0", id: "1", source: "/a", type: "landed" };
    expect(readEachEvent({ ...cloud, data_base64: bytes })).toMatchObject({
      value: [{ read: { problems: [{ field: "data_base64.n", value: "1e309" }] } }],
    });
  });

  const deep: unknown = JSON.parse("[".repeat(24_000) + "]".repeat(24_000));

  test("a message deeper than the stack is refused with the reason, as text and parsed", () => {
    const text = "[".repeat(24_000) + "]".repeat(24_000);
    expect(readHint(text)).toMatchObject({
      ok: false,
      problems: [{ value: "more than 105 levels" }],
    });
    expect(readDelivery(text)).toEqual({ tries: 0, reason: null, message: text });
    const read = readEachEvent({ ...event, data: { deep } });
    expect(read).toMatchObject({
      value: [{ read: { problems: [{ expected: expect.stringContaining("100 levels") }] } }],
    });
    expect(writeRefused(deep, "too deep")).toBeNull();
  });

  test("100 levels of data pass", () => {
    const data = JSON.parse(`${'{"a":'.repeat(99)}{}${"}".repeat(99)}`) as object;
    expect(readEachEvent([{ ...event, data }])).toMatchObject({ value: [{ read: { ok: true } }] });
  });
});
