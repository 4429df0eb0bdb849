import { describe, expect, test } from "@jest/globals";
import sql from "mssql";
import { StoreUnavailableError } from "../../../shared/core/errors";
import type { StoreTransaction, TaskStore } from "../../../shared/ports/task-store";
import { expectWritable } from "../../../shared/store/takes-writes";
import { reportMssqlHolders } from "../../../shared/store/mssql/mssql-holders";

/*
 * No server is at hand that has these views: what it would answer is made up here, by Microsoft's description. The statement
 * itself is read by the simulator's parser (test/tsql/shipped/syntax.test.ts).
 */

type Rows = Record<string, unknown>[];

/** A store whose statement of the locks answers `rows`, or throws. */
function serverWith(answer: Rows | Error, tables = 30): Pick<TaskStore, "transaction"> {
  const query = (text: string): Promise<Rows> => {
    if (!text.includes("sys.dm_tran_locks")) return Promise.resolve([{ tables }]);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const transaction = { dialect: "mssql", query } as StoreTransaction;
  return { transaction: (body) => body(transaction) };
}

/** As the driver builds them. */
function spoken(number: number, message: string): Error {
  const info = { number, message, class: 14, state: 1, procName: "", lineNumber: 1 };
  return new sql.RequestError(Object.assign(new Error(message), { info }), "EREQUEST");
}

// The driver tells a bigint as text.
const old = { session: 57, login: "ann", host: "laptop", program: "SSMS", ageMs: "90000" };

describe("doctor on SQL Server", () => {
  test("doctor on SQL Server says whether the database takes writes, and why it doesn't", async () => {
    const says = (reason: string | null): ReturnType<typeof expectWritable> => {
      const query = (): Promise<Rows> => Promise.resolve([{ reason }]);
      const transaction = { dialect: "mssql", query } as StoreTransaction;
      return expectWritable({ dialect: "mssql", transaction: (body) => body(transaction) });
    };
    expect(await says(null)).toBe("The database isn't read-only.");
    await expect(says("it is read only")).rejects.toThrow(/takes no writes: it is read only\./);
  });

  test("doctor on SQL Server names session, login, host, program, age and the command that ends it, of old transactions only", async () => {
    const young = { ...old, session: 58, ageMs: "29999" };
    const { status, text } = await reportMssqlHolders(serverWith([old, young]));
    expect(status).toBe("note");
    expect(text).toContain("Session 57 of ann from laptop (SSMS) has held rows");
    expect(text).toContain("for 1 min");
    expect(text).toContain("`KILL 57` ends it");
    expect(text).not.toContain("58");
  });

  test("doctor on SQL Server says that no session holds rows for long", async () => {
    const young = { ...old, ageMs: "29999" };
    for (const rows of [[], [young]])
      expect(await reportMssqlHolders(serverWith(rows))).toMatchObject({ status: "ok" });
  });

  test("doctor on SQL Server names a session of which the server tells nothing but its number", async () => {
    const bare = { session: -2, login: null, host: null, program: null, ageMs: "31000" };
    const { text } = await reportMssqlHolders(serverWith([bare]));
    expect(text).toContain(
      "Session -2 of a login that isn't visible from a host without a name (no program's name)",
    );
  });

  test.each([
    [262, "VIEW DATABASE STATE permission denied in database 'app'."],
    [297, "The user does not have permission to perform this action."],
    [300, "VIEW SERVER STATE permission was denied on object 'server', database 'master'."],
  ])("the refusal %i names the grant: %s tells it", async (number, message) => {
    const { status, text } = await reportMssqlHolders(serverWith(spoken(number, message)));
    expect(status).toBe("note");
    expect(text).toContain("GRANT VIEW DATABASE STATE TO [USER]");
    expect(text).toContain("GRANT VIEW SERVER STATE TO [LOGIN]");
  });

  test("a login that sees none of the tables is told so, instead of that all is well", async () => {
    const { status, text } = await reportMssqlHolders(serverWith([], 0));
    expect(status).toBe("note");
    expect(text).toContain("GRANT VIEW DEFINITION ON SCHEMA::Taskgate TO [USER]");
  });

  test("another refusal is told with its number and breaks nothing", async () => {
    const refused = spoken(208, "Invalid object name 'sys.dm_tran_locks'.");
    const { status, text } = await reportMssqlHolders(serverWith(refused));
    expect(status).toBe("note");
    expect(text).toContain("(208): Invalid object name");
  });

  test("an outage and a fault of ours are thrown", async () => {
    const cause = spoken(40613, "Database is not currently available.");
    const outage = new StoreUnavailableError("away", { cause });
    await expect(reportMssqlHolders(serverWith(outage))).rejects.toBe(outage);
    const fault = new Error("ours");
    await expect(reportMssqlHolders(serverWith(fault))).rejects.toBe(fault);
  });
});
