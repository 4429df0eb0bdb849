import { expect, test } from "@jest/globals";
import { readTsqlFiles } from "./tsql/files";

/*
 * In a database whose collation knows supplementary characters (_SC, _140_), LEFT and SUBSTRING count a pair of UTF-16 units
 * as one character, and DATALENGTH counts bytes [doc: LEFT, SUBSTRING]: the text in between has a binary collation then.
 */
const cutByBytes = /\b(?:LEFT|SUBSTRING)\(([^,]*), [^,]*DATALENGTH/gu;

/** Cuts instants: one with such a character is refused whatever is cut. */
const exempt = "shared/store/mssql/sql/functions/_InstantOf.sql";

test("texts that are cut by their length in bytes say a binary collation", () => {
  const cuts = readTsqlFiles()
    .filter(({ path }) => path !== exempt)
    .flatMap(({ path, text }) =>
      text
        .replaceAll(/--.*$/gmu, "")
        .split("\n")
        .flatMap((line) => [...line.matchAll(cutByBytes)].map(([, cut = ""]) => ({ path, cut }))),
    );
  expect(cuts.length).toBeGreaterThan(2);
  expect(cuts.filter(({ cut }) => !cut.includes("COLLATE Latin1_General_100_BIN2"))).toEqual([]);
});
