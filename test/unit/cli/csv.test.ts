import { describe, expect, test } from "@jest/globals";
import { ProblemList } from "../../../shared/admin/problem-list";
import { linesOf } from "../../../shared/admin/text-lines";
import { CsvReader } from "../../../shared/cli/csv";
import type { CsvRecord } from "../../../shared/cli/csv";
import { payloadOf, readHeader, requireColumn } from "../../../shared/cli/csv-payload";

/** The records of a text that arrives in pieces of so many bytes. */
async function recordsOf(text: string, pieceBytes = 1_000, bytesMax = 1_000): Promise<CsvRecord[]> {
  const bytes = Buffer.from(text);
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const reader = new CsvReader(bytesMax);
  const records: CsvRecord[] = [];
  for await (const lines of linesOf(pieces(), { linesMax: Infinity, lineBytesMax: 1_000 }))
    for (const line of lines) records.push(...[reader.push(line) ?? []].flat());
  reader.end();
  return records;
}

const texts = async (text: string): Promise<string[][]> =>
  (await recordsOf(text)).map(({ fields }) => fields.map((field) => field.text));

describe("a CSV reader", () => {
  test.each([
    [
      "a,b\n1,2\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "a,b\r\n1,2\r\n",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "a,b\n1,2",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      ",\n,,",
      [
        ["", ""],
        ["", "", ""],
      ],
    ],
    ['"a","b"\r\n', [["a", "b"]]],
    ['"","x"', [["", "x"]]],
    ['"he said ""no""",1', [['he said "no"', "1"]]],
    ['""""', [['"']]],
    ['"a,b",c', [["a,b", "c"]]],
    [
      '"two\nlines",x\ny,z',
      [
        ["two\nlines", "x"],
        ["y", "z"],
      ],
    ],
    ['"two\r\n\r\nlines",x', [["two\r\n\r\nlines", "x"]]],
    ["\n\na\n\n\nb\n", [["a"], ["b"]]],
    [" a , b ", [[" a ", " b "]]],
    ["\ufeffid,name", [["id", "name"]]],
    ["ä,漢,🙂", [["ä", "漢", "🙂"]]],
  ])("a CSV reader reads %j", async (text, records) => {
    expect(await texts(text)).toEqual(records);
  });

  test("a CSV reader tells the lines of each record, and which of its fields stood in quotes", async () => {
    const [, record] = await recordsOf('id,note\n7,"two\nlines"\n');
    expect(record).toMatchObject({
      number: 2,
      last: 3,
      fields: [{ isQuoted: false }, { isQuoted: true }],
    });
  });

  test("a CSV reader reads the same in pieces of any size", async () => {
    const text = 'id,note\r\n1,"ä ""quoted"", 漢\n🙂"\r\n2,plain\r\n';
    const whole = await recordsOf(text);
    for (let size = 1; size < 12; size += 1) expect(await recordsOf(text, size)).toEqual(whole);
  });

  test.each([
    ['a,b\n1,x"y\n', /^line 2: got "x\\"y", expected a field in quotes/],
    ['"a"b,c', /^line 1: got .*expected a field in quotes that ends with one before a comma/],
    ['a\n\n"never\nends', /^line 3: got a field in quotes without its end/],
    [
      `"${"x\n".repeat(800)}`,
      /^line 1: got a field in quotes without its end, .*at most 1000 bytes/,
    ],
  ])("a CSV reader refuses %j with the record's line", async (text, message) => {
    await expect(recordsOf(text)).rejects.toThrow(message);
  });

  test("a CSV reader refuses bytes that aren't UTF-8 and a line that is too long, with the line", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(0x61, 0x0a, 0xff, 0x0a);
    }
    const read = async (pieces: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const lines of linesOf(pieces, { linesMax: Infinity, lineBytesMax: 8 }))
        expect([...lines].length).toBeGreaterThanOrEqual(0);
    };
    await expect(read(broken())).rejects.toThrow("line 2: got bytes that are not UTF-8");
    await expect(recordsOf(`a\n${"x".repeat(1_001)}`)).rejects.toThrow(
      "line 2: got more than 1000",
    );
  });
});

describe("a payload from a record", () => {
  const read = async (text: string, isTyped = false) => {
    const [header, record] = await recordsOf(text);
    if (header === undefined || record === undefined) throw new Error("no record");
    const problems = new ProblemList();
    const payload = payloadOf(record, { columns: readHeader(header), isTyped }, problems);
    return payload ?? problems.answer().problems;
  };

  test("a record's payload has the names of the first record, and texts", async () => {
    expect(await read("id,ok,name\n7,true,")).toEqual({ id: "7", ok: "true", name: "" });
  });

  test("a record's payload has numbers, true, false and null where types are asked for, but not of fields in quotes", async () => {
    const text = 'a,b,c,d,e,f,g,h,i\n7,-1.5e3,true,false,null,007,"7",1,5\n';
    expect(await read(text, true)).toEqual({
      ...{ a: 7, b: -1500, c: true, d: false, e: null, f: "007", g: "7", h: 1, i: 5 },
    });
    expect(await read("a,b,c\nTrue,+7,\n", true)).toEqual({ a: "True", b: "+7", c: "" });
  });

  test("a name in quotes may hold a semicolon", async () => {
    expect(await read('"a;b"\n1')).toEqual({ "a;b": "1" });
  });

  test("a column called __proto__ is a member like any other", async () => {
    expect(JSON.stringify(await read("__proto__,a\n1,2"))).toBe('{"__proto__":"1","a":"2"}');
  });

  test.each([
    ["a,b\n1", [{ field: "line 2", value: "1 value", expected: "2, one for each column: a, b" }]],
    ["a\n1e999", [{ field: "line 2.a", value: "1e999" }]],
    ["n\n12345678901234567890123", [{ field: "line 2.n" }]],
  ])("a record's payload is refused with %j", async (text, problems) => {
    expect(await read(text, true)).toMatchObject(problems);
  });

  test.each([
    ["a,,b\n1,2,3", /^line 1: got "", expected a name for each column, each once; column 2/],
    ["id;name\n1;Ada", /^line 1: got "id;name", expected columns with commas between them/],
    ["id\tname\n1\tAda", /^line 1: got "id\\tname", expected columns with commas/],
    ["a,b,a\n1,2,3", /^line 1: got "a", .*column 3 has none, or one that is taken/],
  ])("the first record of %j is refused", async (text, message) => {
    await expect(read(text)).rejects.toThrow(message);
  });

  test("a column that isn't there is refused with the near one", () => {
    expect(() => {
      requireColumn("--key-field", "oder", ["id", "order"]);
    }).toThrow(
      '--key-field: got "oder", expected one of the columns id, order. Did you mean `order`?',
    );
  });
});
