import { describe, expect, test } from "@jest/globals";
import { KeyRange } from "../engine/key-range";
import { foldText, textComparer } from "./collation";
import { comparerOf } from "./compare";
import { readVersion } from "./row";
import type { ColumnSchema, TableSchema } from "./schema";
import { fitIndexes } from "./schema";
import { TableData } from "./table";

function column(name: string): ColumnSchema {
  return {
    name,
    type: { name: "int" },
    collation: "",
    isNullable: true,
    identity: undefined,
    default: undefined,
  };
}

const columns = ["Id", "A", "B"].map(column);
const plain = { constraint: undefined, include: [], filter: undefined, filterColumns: [] };

/** A key on Id, and an index on A from the greatest to the least. */
function schema(): TableSchema {
  return {
    id: 1,
    schema: "dbo",
    name: "T",
    isLocal: false,
    columns,
    checks: [],
    foreignKeys: [],
    indexes: fitIndexes(columns, [
      {
        ...plain,
        name: "IX_A",
        isClustered: false,
        isUnique: false,
        keys: [{ column: 1, isDescending: true }],
      },
      {
        ...plain,
        name: "PK_T",
        isClustered: true,
        isUnique: true,
        keys: [{ column: 0, isDescending: false }],
      },
    ]),
  };
}

function filled(): TableData {
  const data = new TableData(schema());
  const images = [
    [3, 10],
    [1, 30],
    [2, null],
    [5, 20],
    [4, 20],
  ] as const;
  for (const [id, a] of images) data.addCommitted([id, a, 0], () => true);
  return data;
}

type Bounds = Partial<ConstructorParameters<typeof KeyRange>[1]>;

function walk(data: TableData, place: number, bounds: Bounds): unknown[] {
  const range = new KeyRange(data.index(place), {
    equal: [],
    low: undefined,
    high: undefined,
    isBackward: false,
    ...bounds,
  });
  const seen: unknown[] = [];
  for (let entry = range.peek(); entry !== undefined; entry = range.peek()) {
    seen.push(entry.row.image?.[0]);
    range.pass(entry);
  }
  return seen;
}

describe("texts", () => {
  test("the texts compare as the collation says, the shorter one padded with blanks", () => {
    const [binary, dictionary] = [
      textComparer("Latin1_General_100_BIN2"),
      textComparer("SQL_Latin1_General_CP1_CI_AS"),
    ];
    expect([binary("a", "A") > 0, dictionary("a", "A"), dictionary("ä", "a") !== 0]).toEqual([
      true,
      0,
      true,
    ]);
    expect([binary("a", "a  "), binary("a", "a\t") > 0, binary("", " ")]).toEqual([0, true, 0]);
    expect(foldText("Ab ", "SQL_Latin1_General_CP1_CI_AS")).toBe("ab");
    expect(foldText("Ab ", "Latin1_General_100_BIN2")).toBe("Ab");
  });

  test("the ids compare by the last six bytes first, NULL before everything", () => {
    const compare = comparerOf("uniqueidentifier", "");
    const [low, high] = [
      "FF000000-0000-0000-0000-000000000001",
      "00000000-0000-0000-0000-000000000002",
    ];
    expect([compare(low, high) < 0, compare(null, low) < 0, compare(null, null)]).toEqual([
      true,
      true,
      0,
    ]);
  });
});

describe("walks of an index", () => {
  test("a walk of an index goes through keys in its order, either way", () => {
    expect(walk(filled(), 0, {})).toEqual([1, 2, 3, 4, 5]);
    expect(walk(filled(), 0, { isBackward: true })).toEqual([5, 4, 3, 2, 1]);
    expect(walk(filled(), 1, {})).toEqual([1, 4, 5, 3, 2]);
  });

  test("a walk of an index keeps to its bounds; NULL is in no range", () => {
    const open = { value: 20, isExclusive: true };
    const closed = { value: 20, isExclusive: false };
    expect(walk(filled(), 1, { equal: [20] })).toEqual([4, 5]);
    expect(walk(filled(), 1, { equal: [null] })).toEqual([2]);
    expect(walk(filled(), 1, { low: closed })).toEqual([1, 4, 5]);
    expect(walk(filled(), 1, { low: open })).toEqual([1]);
    expect(walk(filled(), 1, { high: closed })).toEqual([4, 5, 3]);
    expect(walk(filled(), 1, { high: open })).toEqual([3]);
    expect(
      walk(filled(), 0, {
        low: { value: 2, isExclusive: true },
        high: { value: 4, isExclusive: false },
        isBackward: true,
      }),
    ).toEqual([4, 3]);
  });

  test("a walk of an index goes on where it was when entries come and go", () => {
    const data = filled();
    const range = new KeyRange(data.clustered, {
      equal: [],
      low: undefined,
      high: undefined,
      isBackward: false,
    });
    const first = range.peek();
    if (first === undefined) throw new Error("Nothing to walk");
    range.pass(first);
    data.clustered.remove(first);
    data.addCommitted([0, 0, 0], () => true);
    expect(range.peek()?.key).toEqual([2]);
    expect(range.contains(first)).toBe(false);
    expect(range.boundary()).toBe("KEY dbo.T.PK_T(infinity)");
  });

  test("an index names keys by what identifies them: a unique one by its own columns, another with the row's", () => {
    const data = filled();
    expect(data.clustered.resourceOf([3])).toBe("KEY dbo.T.PK_T(3)");
    expect(data.index(1).resourceOf([20, 4])).toBe("KEY dbo.T.IX_A(20,4)");
  });
});

describe("rows", () => {
  test("the rows are read as of a snapshot; a writer sees its own", () => {
    const writer = { session: 1, number: 1 };
    const row = {
      id: 1,
      image: [3],
      sequence: 0,
      writer,
      older: [
        { sequence: 1, image: [1] },
        { sequence: 4, image: [2] },
      ],
    };
    expect(readVersion(row, 4, writer)).toEqual([3]);
    expect([0, 1, 3, 4].map((snapshot) => readVersion(row, snapshot, undefined))).toEqual([
      undefined,
      [1],
      [1],
      [2],
    ]);
  });

  test("the rows of a copied table are shared until one side makes them its own", () => {
    const original = filled();
    const copy = original.fork();
    expect(copy.clustered.entries[0]?.row).toBe(original.clustered.entries[0]?.row);
    copy.own();
    const own = copy.clustered.entries[0]?.row;
    expect(own).toBe(copy.index(1).entries[0]?.row); // one row, both indexes
    if (own !== undefined) own.image = [1, 99, 0];
    expect(original.clustered.entries[0]?.row.image).toEqual([1, 30, 0]);
  });
});
