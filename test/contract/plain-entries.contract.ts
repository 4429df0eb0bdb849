import { describe, expect } from "@jest/globals";
import { define, statusOf } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/**
 * Which entries of an enqueue take the short way: their answers are the same on either, so only what it takes tells. One that it
 * needn't leave would cost every such call the long way.
 */
export function describePlainEntries(setup: StoreSetup): void {
  const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const plain: readonly unknown[] = [
    {},
    { payload: null, kind: null, priority: null, trace: null },
    { payload: "[]" },
    { payload: { a: 1 } },
    { payload: textOf(65_536) },
    { kind: "k" },
    { kind: "k".repeat(200) },
    { priority: -32_768 },
    { priority: 32_767 },
    { trace },
  ];
  const others: readonly unknown[] = [
    7,
    { group: "g" },
    { payload: "1" },
    { payload: "{" },
    { payload: 1 },
    { payload: true },
    { payload: textOf(65_537) },
    { kind: "" },
    { kind: "k".repeat(201) },
    { kind: " k" },
    { kind: "k " },
    { kind: { a: 1 } },
    { priority: -32_769 },
    { priority: 32_768 },
    { priority: 1.5 },
    { priority: 99_999_999_999 },
    { priority: "high" },
    { trace: `${trace}0` },
    { trace: trace.replace("f", "F") },
    { trace: trace.replace("f", "-") },
    { trace: trace.replaceAll("-", "0") },
    { trace: trace.replace("00-0", "0-00") },
    // PostgreSQL has refused these before.
    ...(setup.dialect === "mssql" ? [{ grup: "g" }, { "payload ": "{}" }] : []),
  ];

  describe("the short way of an enqueue", () => {
    const open = useStore(setup);

    testWith(setup, "raw sql")(
      "an enqueue takes the short way for entries that say nothing but payload, kind, priority and trace, and say it well",
      async () => {
        const opened = open();
        const name = await define(opened.store);
        const place = { opened, dialect: setup.dialect, name };
        for (const [entries, takes] of [
          [plain, true],
          [others, false],
        ] as const)
          for (const entry of entries)
            expect([entry, await takesShortWay(place, [entry])]).toEqual([entry, takes]);
        expect(await statusOf(opened.store, name)).toMatchObject({ ready: plain.length });
        expect(await takesShortWay(place, [...plain, { group: "g" }])).toBe(false);
        if (setup.dialect === "mssql") expect(await takesShortWay(place, [])).toBe(false);
      },
    );

    testWith(setup, "raw sql")(
      "an enqueue takes the short way for payloads beside an entry that has none",
      async () => {
        const opened = open();
        const name = await define(opened.store);
        const place = { opened, dialect: setup.dialect, name };
        const takes = (entry: unknown, ...payloads: unknown[]): Promise<boolean> =>
          takesShortWay(place, [entry], payloads);
        expect(await takes({}, {}, [])).toBe(true);
        expect(await takes({ payload: null }, {})).toBe(true);
        expect(await takes({ payload: "{}" }, {})).toBe(false);
        expect(await takes({}, {}, 1)).toBe(false);
        expect(await takes({}, {}, "{}")).toBe(false);
        expect(await takes({}, { a: "x".repeat(65_536) })).toBe(false);
        expect(await statusOf(opened.store, name)).toMatchObject({ ready: 3 });
      },
    );
  });
}

/** JSON of an array with one text, so many bytes long. */
function textOf(bytes: number): string {
  return JSON.stringify(["x".repeat(bytes - 4)]);
}

/** A definition in a store, and whose dialect that is. */
interface Place {
  readonly opened: TestStore;
  readonly dialect: StoreSetup["dialect"];
  readonly name: string;
}

async function takesShortWay(
  { opened, dialect, name }: Place,
  tasks: readonly unknown[],
  payloads?: readonly unknown[],
): Promise<boolean> {
  const given = JSON.stringify(tasks);
  const beside = payloads && JSON.stringify(payloads);
  const sql =
    dialect === "mssql"
      ? `DECLARE @d int, @now datetime2(3) = SYSUTCDATETIME(), @ids nvarchar(max);
         SELECT @d = d.TaskDefinitionId FROM Taskgate.TaskDefinition AS d WHERE d.Name = N'${name}';
         EXEC Taskgate._EnqueuePlain @TaskDefinitionId = @d, @Name = N'${name}', @Build = 1, @Tasks = N'${given}',
           @Payloads = ${beside === undefined ? "NULL" : `N'${beside}'`}, @OperationId = NULL, @Now = @now, @oTaskIds = @ids OUTPUT;
         SELECT CASE WHEN @ids IS NULL THEN 0 ELSE 1 END AS takes;`
      : `select (_enqueue_plain(d.task_definition_id, d.name, 1, '${given}', ${beside === undefined ? "null" : `'${beside}'`}, null, taskgate._now()) is not null)::int as takes
           from taskgate.task_definition d where d.name = '${name}'`;
  const [row] = await opened.asOwner(async (transaction) => {
    if (dialect === "postgres")
      await transaction.query("set local search_path = taskgate, pg_temp");
    return transaction.query(sql);
  });
  return Number(row?.["takes"]) === 1;
}
