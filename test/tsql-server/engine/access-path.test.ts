import { describe, expect, test } from "@jest/globals";
import type { ColumnSchema, TableSchema } from "../storage/schema";
import { fitIndexes } from "../storage/schema";
import type { PathQuestion, PathTerm } from "./access-path";
import { choosePath, otherPaths } from "./access-path";

const columns = ["Id", "A", "B", "C"].map((name): ColumnSchema => ({
  name,
  type: { name: "int" },
  collation: "",
  isNullable: false,
  identity: undefined,
  default: undefined,
}));

const part = {
  isClustered: false,
  isUnique: false,
  constraint: undefined,
  include: [],
  filter: undefined,
  filterColumns: [],
};
const key = (...places: number[]): { column: number; isDescending: boolean }[] =>
  places.map((column) => ({ column, isDescending: false }));

const table: TableSchema = {
  id: 1,
  schema: "dbo",
  name: "T",
  isLocal: false,
  columns,
  checks: [],
  foreignKeys: [],
  indexes: fitIndexes(columns, [
    { ...part, name: "PK", isClustered: true, isUnique: true, keys: key(0) },
    { ...part, name: "IX_AB", keys: key(1, 2) },
    { ...part, name: "UQ_BA", isUnique: true, keys: key(2, 1) },
    { ...part, name: "IX_A_filtered", keys: key(1), include: [3] },
  ]),
};

const equal = (column: number): PathTerm => ({ column, operator: "=", hasSeveral: false });

const plain: PathQuestion = {
  terms: [],
  isFilterImplied: [true, true, true, false],
  readColumns: new Set([0, 1, 2, 3]),
  order: [],
  indexName: undefined,
  isForceSeek: false,
  forced: undefined,
};

function choose(question: Partial<PathQuestion>): string {
  const answer = choosePath(table, { ...plain, ...question });
  if (answer.kind === "error") return `error ${answer.number}`;
  const { path } = answer;
  const words = [
    path.index.name,
    `${path.equal.length} equal`,
    path.low === undefined && path.high === undefined ? "" : "range",
    path.isBackward ? "backward" : "",
    path.isOrderServed ? "ordered" : "",
    path.isWholeUniqueKey ? "unique" : "",
    path.isCovering ? "" : "lookup",
    answer.isPlain ? "plain" : "",
  ];
  return words.filter((word) => word !== "").join(" ");
}

describe("the access path", () => {
  test("a whole unique key wins, then more equalities, then a range", () => {
    expect(choose({ terms: [equal(0), equal(1), equal(2)] })).toBe("PK 1 equal unique plain");
    expect(choose({ terms: [equal(1), equal(2)] })).toBe("UQ_BA 2 equal unique lookup plain");
    expect(choose({ terms: [equal(1)] })).toBe("IX_AB 1 equal lookup");
    expect(choose({ terms: [equal(1), { column: 2, operator: ">", hasSeveral: false }] })).toBe(
      "IX_AB 1 equal range lookup",
    );
    expect(choose({})).toBe("PK 0 equal");
  });

  test("an order that is served decides between equals, also backwards", () => {
    const order = [{ column: 2, isDescending: true }];
    expect(choose({ order })).toBe("UQ_BA 0 equal backward ordered lookup");
    expect(choose({ terms: [equal(1)], order })).toBe("IX_AB 1 equal backward ordered lookup");
    expect(choose({ order: [{ column: 3, isDescending: false }] })).toBe("PK 0 equal");
  });

  test("any further order behind a whole unique key is served", () => {
    const order = [0, 3].map((column) => ({ column, isDescending: false }));
    expect(choose({ order })).toBe("PK 0 equal ordered");
  });

  test("an index that has all that is read needs no lookup", () => {
    expect(choose({ terms: [equal(1)], readColumns: new Set([0, 1, 2]) })).toBe("IX_AB 1 equal");
  });

  test("a filter must be implied, then it is a reason", () => {
    const implied = [true, true, true, true];
    expect(
      choose({ terms: [equal(1)], readColumns: new Set([0, 1, 2, 3]), isFilterImplied: implied }),
    ).toContain("IX_A");
    expect(choose({ indexName: "IX_A_filtered", terms: [equal(1)] })).toBe("error 8622");
  });

  test("a named index is taken at any cost; an unknown one is 308", () => {
    expect(choose({ indexName: "ix_ab" })).toBe("IX_AB 0 equal lookup plain");
    expect(choose({ indexName: "Nope" })).toBe("error 308");
  });

  test("FORCESEEK wants a seek; plain only if one index fits", () => {
    expect(choose({ isForceSeek: true })).toBe("error 8622");
    expect(choose({ isForceSeek: true, terms: [equal(0)] })).toBe("PK 1 equal unique plain");
    expect(choose({ isForceSeek: true, terms: [equal(1)] })).toBe("IX_AB 1 equal lookup plain");
    const terms = [equal(1), { column: 2, operator: ">", hasSeveral: false } as const];
    expect(choose({ isForceSeek: true, terms })).toBe("IX_AB 1 equal range lookup");
  });

  test("a way can be forced against the hints", () => {
    const terms = [equal(1)];
    const hinted = { terms, indexName: "PK", isForceSeek: true };
    expect(choose({ ...hinted, forced: { index: "UQ_BA", isScan: false } })).toBe(
      "UQ_BA 0 equal lookup plain",
    );
    expect(choose({ terms: [equal(0)], forced: { index: "PK", isScan: true } })).toBe(
      "PK 0 equal plain",
    );
    expect(choose({ terms, forced: { index: "IX_A_filtered", isScan: false } })).toBe("error 8622");
  });

  describe("other ways", () => {
    /** `+` where the text leaves it open. */
    function others(part: Partial<PathQuestion>): string {
      const answer = choosePath(table, { ...plain, ...part });
      if (answer.kind === "error") return "error";
      return otherPaths(table, { ...plain, ...part }, answer.path)
        .map(
          ({ index, isScan, isAllowed }) =>
            `${index}${isScan ? " scan" : ""}${isAllowed ? " +" : ""}`,
        )
        .join(", ");
    }

    test("the other ways are seeks by each key that serves, and walks through indexes with all columns", () => {
      expect(others({ terms: [equal(0), equal(1)] })).toBe("PK scan +, IX_AB +");
      expect(others({ terms: [equal(1), equal(2)] })).toBe("PK scan +, IX_AB +");
      expect(others({ terms: [equal(1)], readColumns: new Set([0, 1]) })).toBe(
        "PK scan +, IX_AB scan +, UQ_BA scan +",
      );
      expect(others({})).toBe("");
    });

    test("a hint forbids some ways", () => {
      expect(others({ terms: [equal(0), equal(1)], indexName: "PK" })).toBe("PK scan +, IX_AB");
      expect(others({ terms: [equal(0), equal(1)], isForceSeek: true })).toBe("PK scan, IX_AB +");
    });

    test("an index whose filter isn't implied is none", () => {
      const isFilterImplied = [true, false, true, true];
      expect(others({ terms: [equal(0), equal(1)], isFilterImplied })).toBe(
        "PK scan +, IX_A_filtered +",
      );
    });
  });

  test("several values serve one column of the key, and no order", () => {
    const several = { ...equal(1), hasSeveral: true };
    const order = [{ column: 2, isDescending: false }];
    expect(choose({ terms: [several], order, indexName: "IX_AB" })).toBe(
      "IX_AB 1 equal lookup plain",
    );
    expect(
      choose({ terms: [several, { ...equal(2), hasSeveral: true }], indexName: "IX_AB" }),
    ).toBe("IX_AB 1 equal lookup plain");
  });
});
