import { done, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";

const page = "sp_getapplock (Transact-SQL)";
const releasePage = "sp_releaseapplock (Transact-SQL)";

function get(mode: string, timeout: number, owner = "Session"): string {
  return `DECLARE @r int; EXEC @r = sys.sp_getapplock @Resource = N'Litmus', @LockMode = N'${mode}', @LockOwner = N'${owner}', @LockTimeout = ${String(timeout)}; SELECT @r AS r;`;
}

const release =
  "DECLARE @r int; EXEC @r = sys.sp_releaseapplock @Resource = N'Litmus', @LockOwner = N'Session'; SELECT @r AS r;";

/** Locks that programs name themselves. */
export const appLockCases: readonly LitmusCase[] = [
  {
    title: "an exclusive application lock is waited for: 0 at once, 1 after a wait",
    rules: ["P"],
    source: page,
    setup: "",
    steps: [
      { on: "A", sql: get("Exclusive", -1), then: rows([0]) },
      { on: "B", sql: get("Exclusive", -1), then: "waits" },
      { on: "A", sql: release, then: rows([0]), wakes: { B: rows([1]) } },
      { on: "B", sql: release, then: rows([0]) },
    ],
  },
  {
    title: "an application lock without patience answers -1, and no error",
    rules: ["P"],
    source: page,
    setup: "",
    steps: [
      { on: "A", sql: get("Exclusive", -1), then: rows([0]) },
      { on: "B", sql: get("Shared", 0), then: rows([-1]) },
      { on: "A", sql: release, then: rows([0]) },
      { on: "B", sql: get("Shared", 0), then: rows([0]) },
      { on: "B", sql: release, then: rows([0]) },
    ],
  },
  {
    title: "shared application locks go together, and keep an exclusive one waiting",
    rules: ["P"],
    source: page,
    setup: "",
    steps: [
      { on: "A", sql: get("Shared", -1), then: rows([0]) },
      { on: "B", sql: get("Shared", -1), then: rows([0]) },
      { on: "C", sql: get("Exclusive", -1), then: "waits" },
      { on: "A", sql: release, then: rows([0]) },
      { on: "B", sql: release, then: rows([0]), wakes: { C: rows([1]) } },
      { on: "C", sql: release, then: rows([0]) },
    ],
  },
  {
    title: "an application lock of a transaction ends with it",
    rules: ["P"],
    source: page,
    setup: "",
    steps: [
      {
        on: "A",
        sql: `BEGIN TRANSACTION; ${get("Exclusive", -1, "Transaction")}`,
        then: rows([0]),
      },
      { on: "B", sql: get("Exclusive", -1), then: "waits" },
      { on: "A", sql: "COMMIT;", then: done, wakes: { B: rows([1]) } },
      { on: "B", sql: release, then: rows([0]) },
    ],
  },
  {
    title: "a variable that holds the name calls the procedure, and a status tells that time is up",
    rules: ["P"],
    source: "EXECUTE (Transact-SQL), @module_name_var",
    setup: "",
    steps: [
      { on: "A", sql: get("Exclusive", -1), then: rows([0]) },
      {
        on: "B",
        sql: `SET XACT_ABORT ON; BEGIN TRANSACTION; DECLARE @p nvarchar(100) = N'sys.sp_getapplock', @r int; EXEC @r = @p @Resource = N'Litmus', @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 0; SELECT @r AS r, XACT_STATE() AS x;`,
        then: rows([-1, 1]),
      },
      { on: "A", sql: release, then: rows([0]) },
      { on: "B", sql: "COMMIT;", then: done },
    ],
  },
  {
    title: "a caller that took an application lock twice has to give it back twice",
    rules: ["P"],
    source: releasePage,
    setup: "",
    steps: [
      { on: "A", sql: get("Exclusive", -1), then: rows([0]) },
      { on: "A", sql: get("Exclusive", -1), then: rows([0]) },
      { on: "A", sql: release, then: rows([0]) },
      { on: "B", sql: get("Exclusive", 0), then: rows([-1]) },
      { on: "A", sql: release, then: rows([0]) },
      { on: "B", sql: get("Exclusive", 0), then: rows([0]) },
      { on: "B", sql: release, then: rows([0]) },
    ],
  },
];
