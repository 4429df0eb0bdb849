import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { scanJson } from "../../../shared/core/json-scan";
import { limits } from "../../../shared/core/limits";

const kept = [
  ...[
    "0",
    "-0",
    "-0.0",
    "-0e5",
    "0e999999999999999999",
    "0.000",
    "1",
    "-1",
    "1.10",
    "1E2",
    "10e-1",
  ],
  ...["0.1", "0.30000000000000004", "0.10000000000000001", "3.141592653589793", "123456789012345"],
  ...["9007199254740991", "9007199254740992", "1e21", "1e24", "1000000000000000000000000"],
  ...[
    "1.7976931348623157e308",
    "5e-324",
    "2.2250738585072014e-308",
    "100e-2",
    `1${"0".repeat(300)}`,
  ],
];
const changed = [
  ...["1e309", "-1e309", "1e400", "1e-400", "-1e-400", "2.5e-324", "9007199254740993"],
  ...["1234567890123456789012345", "0.12345678901234567890123", "123456789.123456789012"],
  ...["12345678901234567890", "-12345678901234567891", "1e99999999999999999999"],
  ...["1e-99999999999999999999", "0.1000000000000000000001", `1${"0".repeat(500)}`],
];

describe("numbers", () => {
  test.each(kept)("%s is kept", (token) => {
    for (const text of [token, `[${token}]`, `{"a": ${token} }`])
      expect(scanJson(text)).toEqual({ problems: [], more: 0 });
  });

  test.each(changed)("%s would be changed, and is refused by field and value", (token) => {
    const { problems } = scanJson(`{"tasks":[{},{"payload":{"a":["x",${token}]}}]}`);
    expect(problems).toEqual([
      {
        path: "tasks[1].payload.a[1]",
        value: token.length > 60 ? `${token.slice(0, 60)}..` : token,
        expected: expect.stringContaining("a number that a double keeps"),
      },
    ]);
  });

  test("20 of them are listed and the others counted", () => {
    const { problems, more } = scanJson(`[${Array(1_000).fill("1e999").join(",")}]`);
    expect(problems).toHaveLength(20);
    expect(problems[19]?.path).toBe("[19]");
    expect(more).toBe(980);
  });

  test("digits within texts and names are no numbers", () => {
    expect(scanJson(`{"1e309":"1e309","\\"1e309":"\\\\"}`).problems).toEqual([]);
  });
});

describe("size", () => {
  const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

  test("105 levels pass and one more doesn't", () => {
    expect(scanJson(nested(limits.jsonDepthMax)).problems).toEqual([]);
    expect(scanJson(nested(limits.jsonDepthMax + 1)).problems).toMatchObject([
      { value: "more than 105 levels", expected: "at most 105 levels" },
    ]);
    expect(scanJson(`${'{"a":'.repeat(105)}[1]${"}".repeat(105)}`).problems).toHaveLength(1);
  });

  test("the path of a value that is too deep is short", () => {
    expect(scanJson(`{"payload":${nested(1_000_000)}}`).problems[0]?.path).toBe(
      "payload[0][0][0][0]..",
    );
  });

  test("brackets that close again are no depth", () => {
    expect(scanJson(`[${Array(1_000).fill(nested(100)).join(",")}]`).problems).toEqual([]);
  });

  test("200,000 values pass and one more doesn't", () => {
    const many = (values: number): string =>
      `[${Array(values - 1)
        .fill("1")
        .join(",")}]`;
    expect(scanJson(many(200_000)).problems).toEqual([]);
    expect(scanJson(many(200_001)).problems).toMatchObject([
      { path: "", value: "more than 200000 values" },
    ]);
    for (const value of ["true", "null", "false", '"a"', "{}", "[]", "0.5"]) {
      const text = `[${Array(200_000).fill(value).join(",")}]`;
      expect(scanJson(text).problems).toHaveLength(1);
    }
  });

  test("names aren't counted as values", () => {
    const members = Array.from({ length: 150_000 }, (_, index) => `"m${String(index)}":1`);
    expect(scanJson(`{${members.join(",")}}`).problems).toEqual([]);
  });
});

test("all JSON that JavaScript writes passes", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      expect(scanJson(text).problems).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test("any text is looked over to its end without an error", () => {
  const sign = fc.constantFrom(...(`{}[]",:\\-+.eE019tfn \n\u0000é`.match(/[^]/gu) ?? []));
  fc.assert(
    fc.property(fc.string({ unit: sign, maxLength: 60 }), (text) => {
      expect(scanJson(text).problems.length).toBeLessThanOrEqual(limits.problemsMax);
    }),
    { numRuns: 500 },
  );
});
