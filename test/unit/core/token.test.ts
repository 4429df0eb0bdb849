import { describe, expect, test } from "@jest/globals";
import { StoreContractError } from "../../../shared/core/errors";
import { formatTokens, parseTokens } from "../../../shared/core/token";

/** The example of source text 000. */
const sourceText =
  "I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:1,G:153532,I:747ebc4e-add4-4d95-9022-0d7a544af813,S:0,G:153533";

const seedTokens = [
  { id: "ccc7b851-2404-4b2b-84e3-6898399a976d", isHeld: false, grantee: "153532" },
  { id: "747ebc4e-add4-4d95-9022-0d7a544af813", isHeld: true, grantee: "153533" },
];

const one = "I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:1,G:0";

describe("The token string of source text S0 (S0.17)", () => {
  test("the token reader reads the source text's example: two tokens with ids, 1 free and 0 held, and grantees", () => {
    expect(parseTokens(sourceText)).toEqual(seedTokens);
  });

  test("the token writer writes what the reader read", () => {
    expect(formatTokens(parseTokens(sourceText))).toBe(sourceText);
    expect(parseTokens(formatTokens(seedTokens))).toEqual(seedTokens);
  });

  test("an empty text is no tokens, and no tokens an empty text", () => {
    expect(parseTokens("")).toEqual([]);
    expect(formatTokens([])).toBe("");
  });

  test("the grantee stays readable after the token was given back", () => {
    const [free] = parseTokens(sourceText);
    expect(free).toMatchObject({ isHeld: false, grantee: "153532" });
  });

  test("the token reader reads | between the tokens", () => {
    expect(parseTokens(sourceText.replace(",I:747", "|I:747"))).toEqual(seedTokens);
  });

  test("the token reader reads the three parts in any order", () => {
    const text =
      "G:153532,I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:1,S:0,G:153533,I:747ebc4e-add4-4d95-9022-0d7a544af813";
    expect(parseTokens(text)).toEqual(seedTokens);
    expect(formatTokens(parseTokens(text))).toBe(sourceText);
  });

  test("the token writer writes ids in lower case and grantees without leading zeros, as the databases do", () => {
    const text = "I:CCC7B851-2404-4B2B-84E3-6898399A976D,S:0,G:007";
    expect(formatTokens(parseTokens(text))).toBe("I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:0,G:7");
  });

  test("a grantee of 18 digits keeps them all", () => {
    const text = one.replace("G:0", "G:999999999999999999");
    expect(formatTokens(parseTokens(text))).toBe(text);
  });

  test("a thousand tokens come back as they were", () => {
    const text = Array.from({ length: 1_000 }, () => one).join(",");
    expect(parseTokens(text)).toHaveLength(1_000);
    expect(formatTokens(parseTokens(text))).toBe(text);
  });

  test.each([
    ["no token string", "nonsense"],
    ["a missing part", "I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:1"],
    ["a part too many", `${one},S:1`],
    ["a part twice", "I:ccc7b851-2404-4b2b-84e3-6898399a976d,S:1,S:1"],
    ["a comma at the end", `${one},`],
    ["only a comma", ","],
    ["an id that is no UUID", one.replace("ccc7b851", "ccc7b85")],
    ["an unknown status", one.replace("S:1", "S:2")],
    ["a negative grantee", one.replace("G:0", "G:-1")],
    ["a grantee of 19 digits", one.replace("G:0", "G:1234567890123456789")],
    ["a blank", one.replace(",S", ", S")],
    ["a line end after it", `${one}\n`],
    ["parts of two tokens mixed", `${one.replace("G:0", "S:0")},${one.replace("S:1", "G:1")}`],
  ])("the token reader refuses %s, and grants nothing from it", (_, text) => {
    const parse = (): unknown => parseTokens(text);
    expect(parse).toThrow(StoreContractError);
    expect(parse).toThrow("execution_tokens: not a list of I:,S:,G: triples (");
  });

  test("the error shows the first 200 characters", () => {
    const text = "x".repeat(300);
    expect(() => parseTokens(text)).toThrow(`(${"x".repeat(200)})`);
  });
});
