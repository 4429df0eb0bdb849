import { afterEach, describe, expect, test } from "@jest/globals";
import sql from "mssql";
import type { ISqlType } from "mssql";
import type { ColumnInfo, SqlType, SqlValue } from "../values";
import type { EngineArgument } from "./engine-port";
import { DriverBenches } from "./driver-bench";
import type { DriverBench } from "./driver-bench";
import { answerRows } from "./scripted-engine";
import {
  columnCases,
  datetime2,
  decimal,
  guid,
  nvarchar,
  parameterCases,
  ticksOf,
  varchar,
} from "./wire-cases";

/*
 * Every type both ways through the driver as it is installed, with null and its limits: what the engine gets of a
 * parameter, and what the program gets of a column.
 */

const benches = new DriverBenches();
afterEach(() => benches.close());

type Bench = Pick<DriverBench, "engine" | "server"> & { pool: sql.ConnectionPool };

async function setup(): Promise<Bench> {
  const bench = await benches.serve();
  return { engine: bench.engine, server: bench.server, pool: await bench.pool() };
}

/** Sends one parameter to a procedure; returns what the engine got. */
async function send(
  { engine, pool }: Bench,
  declared: (() => ISqlType) | ISqlType | undefined,
  value: unknown,
): Promise<EngineArgument> {
  const seen: EngineArgument[] = [];
  engine.script = ({ request }) => {
    if (request.kind !== "batch") seen.push(...request.arguments);
    return { returnStatus: 0 };
  };
  const request = pool.request();
  if (declared === undefined) request.input("x", value);
  else request.input("x", declared, value);
  await request.execute("App.Echo");
  const [argument] = seen;
  if (argument === undefined) throw new Error("Nothing came");
  expect(argument).toMatchObject({ name: "@x", isOutput: false, usesDefault: false });
  return argument;
}

/** Answers one value in a column; returns what the program gets. */
async function receive(
  { engine, pool }: Bench,
  slot: { type: SqlType; isNullable?: boolean },
  value: SqlValue,
): Promise<unknown> {
  const column: ColumnInfo = { name: "X", type: slot.type, isNullable: slot.isNullable ?? true };
  engine.script = ({ events }) => {
    answerRows(events, [column], [[value]]);
    return { returnStatus: 0 };
  };
  const result = await pool.request().execute<{ X: unknown }>("App.Echo");
  expect(result.recordset).toHaveLength(1);
  return result.recordset[0]?.X;
}

describe("a parameter reaches the engine", () => {
  test.each(parameterCases)(
    "a parameter reaches the engine: $title",
    async ({ declared, value, type, got }) => {
      const argument = await send(await setup(), declared, value);
      expect(argument.value).toEqual({ kind: "scalar", type, value: got });
    },
  );

  test("a parameter reaches the engine as a table: columns by position, without their names", async () => {
    const { engine, pool } = await setup();
    const seen: unknown[] = [];
    engine.script = ({ request }) => {
      if (request.kind === "procedure") seen.push(...request.arguments);
      return { returnStatus: 0 };
    };
    const table = new sql.Table("App.ClaimList");
    table.columns.add("TaskId", sql.BigInt, { nullable: false });
    table.columns.add("Note", sql.NVarChar(50));
    table.columns.add("At", sql.DateTime2(3));
    table.columns.add("OperationId", sql.UniqueIdentifier);
    table.rows.add("9007199254740993", "Prüfung", new Date("2026-06-01T12:34:56.789Z"), guid);
    table.rows.add(2, null, null, null);
    await pool.request().input("Claims", table).execute("App.Echo");
    expect(seen).toEqual([
      {
        name: "@Claims",
        isOutput: false,
        usesDefault: false,
        value: {
          kind: "table",
          typeName: "App.ClaimList",
          columns: [
            { name: "bigint" },
            { name: "nvarchar", length: 50 },
            { name: "datetime2", scale: 3 },
            { name: "uniqueidentifier" },
          ],
          rows: [
            [9_007_199_254_740_993n, "Prüfung", ticksOf("2026-06-01T12:34:56.789Z"), guid],
            [2n, null, null, null],
          ],
        },
      },
    ]);
  });

  test("a parameter reaches the engine as a table without rows", async () => {
    const table = new sql.Table("App.ClaimList");
    table.columns.add("TaskId", sql.Int);
    const bench = await setup();
    const seen: unknown[] = [];
    bench.engine.script = ({ request }) => {
      if (request.kind === "procedure") seen.push(request.arguments[0]?.value);
      return { returnStatus: 0 };
    };
    await bench.pool.request().input("Claims", table).execute("App.Echo");
    expect(seen).toEqual([
      { kind: "table", typeName: "App.ClaimList", columns: [{ name: "int" }], rows: [] },
    ]);
  });
});

const namesOfFixed = new Set(["tinyint", "smallint", "int", "bigint", "bit", "float", "datetime"]);
const fixedColumns = columnCases.filter(({ slot }) => namesOfFixed.has(slot.type.name));

describe("a column reaches the program", () => {
  test.each(columnCases)("a column reaches the program: $title", async ({ slot, value, got }) => {
    const received = await receive(await setup(), slot, value);
    expect(received).toEqual(got);
  });

  test.each(columnCases)("a column of null reaches the program: $title", async ({ slot }) => {
    expect(await receive(await setup(), slot, null)).toBeNull();
  });

  test.each(fixedColumns)(
    "a column that is NOT NULL reaches the program without a length: $title",
    async ({ slot, value, got }) => {
      const received = await receive(await setup(), { ...slot, isNullable: false }, value);
      expect(received).toEqual(got);
    },
  );

  test("a column reaches the program with more digits than a Date has", async () => {
    const value = ticksOf("2026-06-01T12:34:56.789Z", 1_234n);
    const received = await receive(await setup(), { type: datetime2(7) }, value);
    expect(received).toMatchObject({ nanosecondsDelta: 0.000_123_4 });
  });

  test("a column reaches the program with its written name, type, length and nullability", async () => {
    const { engine, pool } = await setup();
    engine.script = ({ events }) => {
      const list: ColumnInfo[] = [
        { name: "TaskId", type: { name: "bigint" }, isNullable: false },
        { name: "Note", type: nvarchar(20), isNullable: true },
        { name: "Payload", type: nvarchar("max"), isNullable: true },
        { name: "EndsAt", type: datetime2(3), isNullable: true },
        { name: "operationId", type: { name: "uniqueidentifier" }, isNullable: true },
      ];
      answerRows(events, list, []);
      return { returnStatus: 0 };
    };
    const { recordset } = await pool.request().execute("App.Echo");
    expect(recordset).toHaveLength(0);
    expect(recordset.columns).toMatchObject({
      TaskId: { index: 0, type: sql.BigInt, nullable: false },
      // Twice the number of characters.
      Note: { index: 1, type: sql.NVarChar, length: 40, nullable: true },
      Payload: { index: 2, type: sql.NVarChar, length: 65_535 },
      EndsAt: { index: 3, type: sql.DateTime2, scale: 3 },
      operationId: { index: 4, type: sql.UniqueIdentifier },
    });
  });

  test("a column reaches the program in a row of nine, with nulls beyond the first byte of their bits", async () => {
    const { engine, pool } = await setup();
    const names = ["A", "B", "C", "D", "E", "F", "G", "H", "I"];
    engine.script = ({ events }) => {
      const list = names.map((name) => ({
        name,
        type: { name: "int" as const },
        isNullable: true,
      }));
      answerRows(events, list, [
        [null, 2, 3, 4, 5, 6, 7, 8, null],
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
      ]);
      return { returnStatus: 0 };
    };
    const { recordset } = await pool.request().execute("App.Echo");
    expect([...recordset]).toEqual([
      { A: null, B: 2, C: 3, D: 4, E: 5, F: 6, G: 7, H: 8, I: null },
      { A: 1, B: 2, C: 3, D: 4, E: 5, F: 6, G: 7, H: 8, I: 9 },
    ]);
  });

  test("two columns of one name become an array", async () => {
    const { engine, pool } = await setup();
    engine.script = ({ events }) => {
      const column = { name: "A", type: { name: "int" as const }, isNullable: true };
      answerRows(events, [column, column], [[1, 2]]);
      return { returnStatus: 0 };
    };
    const { recordset } = await pool.request().execute("App.Echo");
    expect([...recordset]).toEqual([{ A: [1, 2] }]);
  });
});

describe("an output parameter", () => {
  test("an output parameter comes back by its name, with the return value", async () => {
    const { engine, pool } = await setup();
    const seen: EngineArgument[] = [];
    engine.script = ({ request }) => {
      if (request.kind === "procedure") seen.push(...request.arguments);
      return {
        returnStatus: -5,
        outputs: [
          { name: "@Fence", type: { name: "bigint" }, value: 2n ** 60n },
          { name: "@Status", type: nvarchar(20), value: "claimed" },
          { name: "@At", type: datetime2(3), value: null },
        ],
      };
    };
    const result = await pool
      .request()
      .input("Want", sql.Int, 3)
      .output("Fence", sql.BigInt, "77")
      .output("Status", sql.NVarChar(20))
      .output("At", sql.DateTime2(3))
      .execute("[App].[Work]");
    expect(result.output).toEqual({ Fence: String(2n ** 60n), Status: "claimed", At: null });
    expect(result.returnValue).toBe(-5);
    expect(seen.map(({ name, isOutput }) => [name, isOutput])).toEqual([
      ["@Want", false],
      ["@Fence", true],
      ["@Status", true],
      ["@At", true],
    ]);
    expect(seen[1]?.value).toEqual({ kind: "scalar", type: { name: "bigint" }, value: 77n });
    expect(engine.requests.at(-1)).toMatchObject({ kind: "procedure", name: "[App].[Work]" });
  });
});

describe("what can't be sent is refused, not bent", () => {
  const misfits: {
    title: string;
    slot: { type: SqlType; isNullable?: boolean };
    value: SqlValue;
  }[] = [
    {
      title: "a null where the column is NOT NULL",
      slot: { type: { name: "int" }, isNullable: false },
      value: null,
    },
    { title: "a number too large for int", slot: { type: { name: "int" } }, value: 2 ** 31 },
    { title: "a fraction in an int", slot: { type: { name: "int" } }, value: 1.5 },
    { title: "a number in a bigint", slot: { type: { name: "bigint" } }, value: 1 },
    { title: "two as a bit", slot: { type: { name: "bit" } }, value: 2 },
    { title: "a text too long", slot: { type: nvarchar(3) }, value: "abcd" },
    { title: "a padded text too short", slot: { type: { name: "nchar", length: 3 } }, value: "ab" },
    { title: "a character that the code page lacks", slot: { type: varchar(3) }, value: "日" },
    { title: "a decimal with too many digits", slot: { type: decimal(3, 0) }, value: 1_000n },
    {
      title: "an identifier in lower case",
      slot: { type: { name: "uniqueidentifier" } },
      value: guid.toLowerCase(),
    },
    { title: "an instant finer than its scale", slot: { type: datetime2(3) }, value: 1n },
  ];

  test.each(misfits)("a value that can't be sent is refused: $title", async ({ slot, value }) => {
    const bench = await setup();
    await expect(receive(bench, slot, value)).rejects.toMatchObject({
      number: 8630,
      message: expect.stringContaining("Column X: "),
    });
    expect(bench.server.takeFailures()).toHaveLength(1);
  });

  test.each([
    ["money", sql.Money, 1],
    ["date", sql.Date, new Date(0)],
    ["datetimeoffset", sql.DateTimeOffset(3), new Date(0)],
  ] as const)("a parameter of type %s is refused", async (name, declared, value) => {
    const bench = await setup();
    await expect(send(bench, declared, value)).rejects.toMatchObject({
      number: 8630,
      message: expect.stringContaining(`Parameter @x: Type 0x`),
    });
    expect(bench.server.takeFailures()[0]?.message).toContain(name);
  });
});
