import { describe, expect, test } from "@jest/globals";
import { tokenise } from "./lexer";

function read(text: string): string[] {
  return tokenise(text, "text.sql").map((token) => `${token.kind} ${token.text}`);
}

describe("tokens", () => {
  test("the lexer tells the kinds of tokens, each as it is written", () => {
    expect(read("SELECT [a]]b], @v, @@ROWCOUNT, 'it''s', N'ü', 1.5e-3, 0xFF;")).toEqual([
      "word SELECT",
      "quoted a]b",
      "symbol ,",
      "variable @v",
      "symbol ,",
      "systemVariable @@ROWCOUNT",
      "symbol ,",
      "string it's",
      "symbol ,",
      "unicode ü",
      "symbol ,",
      "number 1.5e-3",
      "symbol ,",
      "binary 0xFF",
      "symbol ;",
      "end ",
    ]);
  });

  test("a sign of two characters is one token", () => {
    expect(read("<> <= >= != += -= ::").slice(0, -1)).toEqual(
      ["<>", "<=", ">=", "!=", "+=", "-=", "::"].map((sign) => `symbol ${sign}`),
    );
  });

  test("comments vanish, also one inside another, and lines are counted through them", () => {
    const tokens = tokenise("a -- x\n/* 1 /* 2\n */ */ b 'x\ny' c", "text.sql");
    expect(tokens.map(({ text, line }) => [text, line])).toEqual([
      ["a", 1],
      ["b", 3],
      ["x\ny", 3],
      ["c", 4],
      ["", 4],
    ]);
  });

  test.each([
    ["an open text", "SELECT 'a", "a text is never closed"],
    ["an open comment", "SELECT 1 /* a /* b */", "a comment is never closed"],
    ["an open name", "SELECT [a", "can't be read: [a"],
    ["a double quote", 'SELECT "a"', 'can\'t be read: "a"'],
    ["a number that runs into a name", "SELECT 1a", "can't be read: 1a"],
    ["a joined line inside a text", "SELECT 'a\\\nb'", "a backslash at the end of a line"],
    ["a temporary table", "SELECT 1 FROM #a", "can't be read: #a"],
  ])("%s is refused, with its line", (_, text, error) => {
    expect(() => tokenise(`\n\n${text}`, "text.sql")).toThrow(error);
    expect(() => tokenise(`\n\n${text}`, "text.sql")).toThrow("text.sql:3: ");
  });
});
