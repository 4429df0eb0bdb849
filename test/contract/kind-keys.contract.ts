import { describe, expect, test } from "@jest/globals";
import { keyOf } from "../../shared/core/payload-key";
import { expectError } from "../support/expect-error";
import { useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { call, defineKind, groupKeys } from "./kind-rules";

/** The value at a path of a payload: every store reads it as the client does. */
export function describeKindKeys(setup: StoreSetup): void {
  describe("enqueue_tasks reads a group's key from the payload", () => {
    describeKeys(setup);
  });
}

const deep = `{"a":${'{"a":'.repeat(60)}1${"}".repeat(60)},"k":"x"}`;

/** Payloads, the path that is read, and the key; null: none; undefined: refused. */
const cases: readonly [title: string, payload: string | null, path: string, key?: string | null][] =
  [
    ["a text", '{"k":"Ada"}', "k", "Ada"],
    ["a text with escapes", String.raw`{"k":"a\"b\\\u0041\/\t."}`, "k", 'a"b\\A/\t.'],
    ["a text of other scripts", '{"k":"Łódź 東京"}', "k", "Łódź 東京"],
    ["two spellings of é", '{"k":"e\u0301"}', "k", "e\u0301"],
    ["a character beyond U+FFFF", '{"k":"😀"}', "k", "😀"],
    ["an escaped surrogate pair", String.raw`{"k":"\ud83d\ude00"}`, "k", "😀"],
    ["a text that looks like a number", '{"k":"1.50"}', "k", "1.50"],
    ["a text of digits behind a zero", '{"k":"007"}', "k", "007"],
    ["a text that is a sign", '{"k":"-"}', "k", "-"],
    ["a text of 200 units", `{"k":"${"x".repeat(200)}"}`, "k", "x".repeat(200)],
    ["100 characters beyond U+FFFF", `{"k":"${"😀".repeat(100)}"}`, "k", "😀".repeat(100)],
    ["a percent sign", '{"k":"100%"}', "k", "100%"],
    ["zero", '{"k":0}', "k", "0"],
    ["a negative number", '{"k":-7}', "k", "-7"],
    ["the greatest number", '{"k":9007199254740991}', "k", "9007199254740991"],
    ["the least number", '{"k":-9007199254740991}', "k", "-9007199254740991"],
    ["blanks around members", '{ "k" :\n"x" , "l" : 1 }', "k", "x"],
    ["a nested member", '{"a":{"b":{"c":"x"},"c":"y"},"c":"z"}', "a.b.c", "x"],
    ["a member behind others", '{"l":[{"k":"no"},"}"],"m":{"k":"no"},"k":"x"}', "k", "x"],
    ["a deep payload", deep, "k", "x"],
    ["a member whose name is escaped", String.raw`{"\u006b":"x"}`, "k", "x"],
    ["other members with half a surrogate pair", String.raw`{"l":"\ud800","k":"x"}`, "k", "x"],
    ["other members with U+0000", String.raw`{"l":"\u0000","k":"x"}`, "k", "x"],
    ["what only looks like half a pair", String.raw`{"k":"\\ud800"}`, "k", String.raw`\ud800`],
    ["another case", '{"K":"x"}', "k", null],
    ["a name with a blank at its end", '{"k ":"x"}', "k", null],
    ["a name with a dot", '{"a.b":"x"}', "a.b", null],
    ["a missing member", "{}", "k", null],
    ["a missing parent", '{"b":1}', "a.b", null],
    ["null", '{"k":null}', "k", null],
    ["a parent that is null", '{"a":null}', "a.b", null],
    ["no payload", null, "k", null],
    ["true", '{"k":true}', "k"],
    ["false", '{"k":false}', "k"],
    ["a fraction", '{"k":1.5}', "k"],
    ["a whole number with a fraction", '{"k":1.0}', "k"],
    ["a whole number with an exponent", '{"k":1e3}', "k"],
    ["minus zero", '{"k":-0}', "k"],
    ["a number that JavaScript rounds", '{"k":9007199254740992}', "k"],
    ["a number of 30 digits", `{"k":${"9".repeat(30)}}`, "k"],
    ["an object", '{"k":{"x":1}}', "k"],
    ["an array", '{"k":["x"]}', "k"],
    ["an array for a payload", '[{"k":"x"}]', "k"],
    ["a member four steps deep", '{"a":{"b":{"c":{"d":7}}}}', "a.b.c.d", "7"],
    ["a missing grandparent", '{"a":{"b":{}}}', "a.b.c.d", null],
    ["a grandparent that is null", '{"a":{"b":null}}', "a.b.c.d", null],
    ["a text for a grandparent", '{"a":{"b":"x"}}', "a.b.c.d"],
    ["an array four steps deep", '{"a":{"b":{"c":{"d":[7]}}}}', "a.b.c.d"],
    ["a member four steps deep that is there twice", '{"a":{"b":{"c":{"d":1,"d":2}}}}', "a.b.c.d"],
    ["a text for a parent", '{"a":"x"}', "a.b"],
    ["a number for a parent", '{"a":1}', "a.b"],
    ["a boolean for a parent", '{"a":true}', "a.b"],
    ["an array for a parent", '{"a":[1]}', "a.b"],
    ["a member that is there twice", '{"k":"x","k":"y"}', "k"],
    ["a member that is there twice, the last one null", '{"k":"x","k":null}', "k"],
    ["a parent that is there twice", '{"a":{"b":1},"a":{"b":1}}', "a.b"],
    ["an empty text", '{"k":""}', "k"],
    ["a blank at the end", '{"k":"x "}', "k"],
    ["a blank before a digit", '{"k":" 5"}', "k"],
    ["a tab at the end", String.raw`{"k":"x\t"}`, "k"],
    ["a wide blank at the beginning", '{"k":"\u3000x"}', "k"],
    ["a blank of half an em at the beginning", '{"k":"\u2000x"}', "k"],
    ["a hair space at the end", '{"k":"x\u200a"}', "k"],
    ["a space of no width at the end", '{"k":"x\u200b"}', "k", "x\u200b"],
    ["a text of 201 units", `{"k":"${"x".repeat(201)}"}`, "k"],
    ["a text of 201 units beyond U+FFFF", `{"k":"x${"😀".repeat(100)}"}`, "k"],
    ["a very long text", `{"k":"${"x".repeat(60_000)}"}`, "k"],
    ["a very long text with other letters", `{"k":"é${"x".repeat(59_000)}"}`, "k"],
    ["half a surrogate pair", String.raw`{"k":"x\ud800"}`, "k"],
    ["a low half first", String.raw`{"k":"\udc00\ud800"}`, "k"],
    ["a high half before a pair", String.raw`{"k":"\ud83d\ud83d\ude00"}`, "k"],
    ["U+0000", String.raw`{"k":"a\u0000"}`, "k"],
  ];

function describeKeys(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const [title, payload, path, key] of cases) {
    test(`enqueue_tasks reads ${title}`, async () => {
      const { store } = open();
      const name = await defineKind(store, { groupBy: path });
      const enqueued = store.enqueueTasks(call(name, [{ payload }]));
      const found = keyOf(payload, path);
      if ("problem" in found) {
        expect(key).toBeUndefined();
        const value = `tasks[0].${found.problem}`;
        await expectError(enqueued, { code: "TASKGATE_ARG_INVALID", value });
        return;
      }
      expect(found.key).toBe(key);
      expect(await enqueued).toMatchObject({ status: "enqueued", ready: true });
      expect(await groupKeys(store, name)).toEqual(key === null ? [] : [key]);
    });
  }
}
