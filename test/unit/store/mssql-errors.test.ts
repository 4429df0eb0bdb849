import { describe, expect, test } from "@jest/globals";
import sql from "mssql";
import {
  StoreUnavailableError,
  StoreUncertainError,
  TaskgateError,
} from "../../../shared/core/errors";
import type { ErrorCode } from "../../../shared/core/errors";
import {
  hasNumber,
  isOfDriver,
  mapMssqlError,
  rememberLoginErrors,
  transactionOver,
} from "../../../shared/store/mssql/mssql-errors";
import { mssqlTroubles } from "../../../shared/store/mssql/mssql-troubles";
import { storeTroubleOf } from "../../../shared/store/mssql/mssql-errors";
import type { Sent } from "../../../shared/store/mssql/mssql-errors";

/*
 * The shapes are those that mssql 12.7.14 over tedious 19.2.2 throws, seen in runs against a server that speaks TDS.
 * They are built with the driver's own classes, the way the driver builds them.
 */

interface Spoken {
  number: number;
  message?: string;
  severity?: number;
}

/** One error of the server. */
function spoken({ number, message = `text ${String(number)}`, severity = 16 }: Spoken): Error {
  const info = { number, message, class: severity, state: 1, procName: "p", lineNumber: 1 };
  return new sql.RequestError(Object.assign(new Error(message), { info }), "EREQUEST");
}

/** `query` throws the last error and keeps the others. */
function fromQuery(...all: Spoken[]): Error {
  const errors = all.map(spoken);
  const last = errors.pop() ?? new Error("no error");
  return Object.assign(last, { precedingErrors: errors });
}

/** `execute` wraps more than one error in another, which has no number. */
function fromExecute(...all: Spoken[]): Error {
  const errors = all.map(spoken);
  if (errors.length === 1) return fromQuery(...all);
  const wrapped = new sql.RequestError(new AggregateError(errors, "several"), "EREQUEST");
  return Object.assign(wrapped, { precedingErrors: errors });
}

/** A lost connection: the driver's code, also as `number`. */
function lost(code: string): Error {
  const cause = Object.assign(new Error("socket hang up"), { code });
  return Object.assign(new sql.RequestError(cause, "EREQUEST"), { number: code });
}

function connecting(code: string | undefined, message: string): Error {
  const cause = Object.assign(new Error(message), code === undefined ? {} : { code });
  return new sql.ConnectionError(cause);
}

const everywhere: readonly Sent[] = ["sent", "not sent", "undone"];

describe("errors of SQL Server", () => {
  test.each<[string, Error, ErrorCode]>([
    ["50404", fromExecute({ number: 50404 }), "TASKGATE_ARG_UNKNOWN"],
    ["50409", fromExecute({ number: 50409 }), "TASKGATE_ARG_CONFLICT"],
    ["50413", fromExecute({ number: 50413 }), "TASKGATE_ARG_TOO_LARGE"],
    ["50422", fromExecute({ number: 50422 }), "TASKGATE_ARG_INVALID"],
    ["50490", fromExecute({ number: 50490 }), "TASKGATE_STORE_CONTEXT"],
    ["50422 then 3998", fromExecute({ number: 50422 }, { number: 3998 }), "TASKGATE_ARG_INVALID"],
    ["deadlock", fromExecute({ number: 1205, severity: 13 }), "TASKGATE_STORE_CONFLICT"],
    ["1205 then 3902", fromQuery({ number: 1205 }, { number: 3902 }), "TASKGATE_STORE_CONFLICT"],
    ["3960", fromExecute({ number: 3960 }), "TASKGATE_STORE_CONFLICT"],
    ["1222", fromExecute({ number: 1222 }), "TASKGATE_STORE_CONFLICT"],
    ["50423, of a key", fromExecute({ number: 50423 }), "TASKGATE_STORE_CONFLICT"],
    ["50425, of keys", fromExecute({ number: 50425 }), "TASKGATE_STORE_CONFLICT"],
    ["worker limit", fromExecute({ number: 10928, severity: 20 }), "TASKGATE_STORE_UNAVAILABLE"],
    ["throttled", fromExecute({ number: 40501, severity: 20 }), "TASKGATE_STORE_UNAVAILABLE"],
    ["row version gone", fromExecute({ number: 3958 }), "TASKGATE_STORE_UNAVAILABLE"],
    [
      "3966, the version store's victim",
      fromExecute({ number: 3966, severity: 17 }),
      "TASKGATE_STORE_UNAVAILABLE",
    ],
    ["latch time-out", fromExecute({ number: 845, severity: 17 }), "TASKGATE_STORE_UNAVAILABLE"],
    [
      "8628, no plan in time",
      fromExecute({ number: 8628, severity: 17 }),
      "TASKGATE_STORE_UNAVAILABLE",
    ],
    ["log full", fromExecute({ number: 9002, severity: 17 }), "TASKGATE_STORE_UNAVAILABLE"],
    ["pool full", fromExecute({ number: 1132, severity: 17 }), "TASKGATE_STORE_UNAVAILABLE"],
    ["read-only", fromExecute({ number: 3906 }), "TASKGATE_STORE_UNAVAILABLE"],
  ])("%s is the same whether it was sent or not", (_, error, code) => {
    for (const sent of everywhere) expect(mapMssqlError(error, sent).code).toBe(code);
  });

  test.each<[string, Error, ErrorCode]>([
    ["failover", fromExecute({ number: 40197, severity: 17 }), "TASKGATE_STORE_UNCERTAIN"],
    ["not available", fromExecute({ number: 40613 }), "TASKGATE_STORE_UNCERTAIN"],
    ["killed", fromExecute({ number: 596, severity: 21 }), "TASKGATE_STORE_UNCERTAIN"],
    ["anything fatal", fromExecute({ number: 99999, severity: 20 }), "TASKGATE_STORE_UNCERTAIN"],
    ["no procedure", fromExecute({ number: 2812 }), "TASKGATE_SCHEMA_MISSING"],
    ["no table", fromQuery({ number: 208 }), "TASKGATE_SCHEMA_MISSING"],
    ["no right", fromExecute({ number: 229, severity: 14 }), "TASKGATE_STORE_FORBIDDEN"],
    ["no right to make", fromQuery({ number: 262, severity: 14 }), "TASKGATE_STORE_FORBIDDEN"],
    ["null", fromExecute({ number: 515 }), "TASKGATE_ARG_INVALID"],
    ["too long", fromExecute({ number: 2628 }), "TASKGATE_ARG_INVALID"],
    ["no JSON", fromExecute({ number: 13609 }), "TASKGATE_ARG_INVALID"],
    ["no plan", fromExecute({ number: 8622 }), "TASKGATE_STORE_CONTRACT"],
    ["50499", fromExecute({ number: 50499 }), "TASKGATE_STORE_CONTRACT"],
    ["syntax", fromQuery({ number: 102 }), "TASKGATE_STORE_CONTRACT"],
    ["doomed", fromExecute({ number: 3930 }), "TASKGATE_STORE_CONTRACT"],
    ["no reason", lost("UNKNOWN"), "TASKGATE_STORE_CONTRACT"],
    ["cut", lost("ECONNRESET"), "TASKGATE_STORE_UNCERTAIN"],
    ["closed by us", lost("ECLOSE"), "TASKGATE_STORE_UNCERTAIN"],
    ["time-out", lost("ETIMEOUT"), "TASKGATE_STORE_UNCERTAIN"],
    ["cancelled", lost("ECANCEL"), "TASKGATE_STORE_UNCERTAIN"],
    ["dead before sending", lost("EINVALIDSTATE"), "TASKGATE_STORE_UNAVAILABLE"],
    ["bad value", lost("EPARAM"), "TASKGATE_ARG_INVALID"],
    [
      "two statements",
      new sql.TransactionError("in progress", "EREQINPROG"),
      "TASKGATE_STORE_CONTEXT",
    ],
    [
      "no transaction",
      new sql.TransactionError("not begun", "ENOTBEGUN"),
      "TASKGATE_STORE_CONTEXT",
    ],
  ])("%s, after it was sent", (_, error, code) => {
    expect(mapMssqlError(error, "sent").code).toBe(code);
  });

  test("a missing right is named, with the role that has it and the command that gives it", () => {
    const denied = (object: string): string =>
      mapMssqlError(
        fromExecute({
          number: 229,
          message: `The EXECUTE permission was denied on the object '${object}', database 'd', schema 'Taskgate'.`,
        }),
        "sent",
      ).message;
    expect(denied("SetLimit")).toBe(
      "The database refuses this to the login (The EXECUTE permission was denied on the object 'SetLimit', database 'd', schema 'Taskgate'). Only operators may do that: as owner of the schema run `ALTER ROLE TaskgateOperator ADD MEMBER [USER]`.",
    );
    expect(denied("Work")).toContain(
      "As owner of the schema run `ALTER ROLE TaskgateWorker ADD MEMBER [USER]` for an app",
    );
    expect(denied("Work")).toContain("`npx taskgate migrate` with the owner's login");
  });

  test("an error of the driver is told from what fails beside it", () => {
    expect([fromExecute({ number: 229 }), lost("ETIMEOUT")].map(isOfDriver)).toEqual([true, true]);
    const missing = Object.assign(new Error("no such file"), { code: "ENOENT" });
    expect([missing, new TypeError("x"), "text", null].map(isOfDriver)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test("the key of an operation id that another call has just taken is a conflict, other keys are not", () => {
    const text = "Violation of PRIMARY KEY constraint 'PK_Operation'. Cannot insert duplicate key";
    const unique = "Violation of UNIQUE KEY constraint 'UQ_TaskExecution_OperationId'.";
    const other = "Violation of PRIMARY KEY constraint 'PK_Task'.";
    const codes = [text, unique, other].map(
      (message) => mapMssqlError(fromExecute({ number: 2627, message }), "sent").code,
    );
    expect(codes).toEqual([
      "TASKGATE_STORE_CONFLICT",
      "TASKGATE_STORE_CONFLICT",
      "TASKGATE_STORE_CONTRACT",
    ]);
  });

  test("a lock time-out says so, a deadlock doesn't", () => {
    for (const number of [1222, 50423]) {
      const { details } = mapMssqlError(fromExecute({ number }), "sent");
      expect(details).toEqual({ isLockTimeout: true });
    }
    for (const number of [1205, 50425]) {
      expect(mapMssqlError(fromExecute({ number }), "sent").details).toEqual({});
    }
  });

  test("no error inside a transaction that can't be committed any more is uncertain", () => {
    for (const error of [lost("ECONNRESET"), lost("ETIMEOUT"), fromExecute({ number: 40197 })]) {
      expect(mapMssqlError(error, "undone").code).toBe("TASKGATE_STORE_UNAVAILABLE");
    }
    const ours = new StoreUncertainError("no whole answer");
    expect(mapMssqlError(ours, "undone").code).toBe("TASKGATE_STORE_UNAVAILABLE");
    expect(mapMssqlError(fromExecute({ number: 8622 }), "undone").code).toBe(
      "TASKGATE_STORE_CONTRACT",
    );
  });

  test("an error of SQL Server keeps the server's text and the original", () => {
    const error = fromExecute({ number: 50422, message: "want: expected 1..1000 (0)" });
    expect(mapMssqlError(error, "sent")).toMatchObject({
      message: "want: expected 1..1000 (0)",
      cause: error,
    });
  });

  test("the first of several errors that says something is told", () => {
    const error = fromExecute({ number: 547, message: "the reason" }, { number: 3621 });
    expect(mapMssqlError(error, "sent").message).toContain("the reason");
    const other = fromExecute({ number: 3998 }, { number: 8134, message: "divide by zero" });
    expect(mapMssqlError(other, "sent").message).toContain("(8134): divide by zero");
  });

  test("an error that isn't the driver's is passed on, or unknown", () => {
    const own = new StoreUnavailableError("mine");
    expect(mapMssqlError(own, "sent")).toBe(own);
    expect(mapMssqlError(new sql.ConnectionError(own), "not sent")).toBe(own);
    expect(mapMssqlError("a text", "sent").code).toBe("TASKGATE_STORE_UNCERTAIN");
    expect(mapMssqlError(undefined, "not sent").code).toBe("TASKGATE_STORE_UNAVAILABLE");
  });
});

describe("errors of connecting", () => {
  test.each([
    ["ESOCKET", "Failed to connect to h:1 - self-signed certificate"],
    ["ETIMEOUT", "Failed to connect to h:1 in 15000ms"],
    ["ELOGIN", "Login failed for user 'x'."],
    ["EENCRYPT", "Server requires encryption"],
    [undefined, "The connection ended without ever completing the connection"],
  ])("an error of connecting, %s, says that nothing was sent", (code, message) => {
    const mapped = mapMssqlError(connecting(code, message), "not sent");
    expect(mapped).toMatchObject({ code: "TASKGATE_STORE_UNAVAILABLE", isRetryable: true });
    expect(mapped.message).toContain(message);
  });

  test("a refused login has the number that the server said before", () => {
    const error = connecting("ELOGIN", "Login failed.");
    const original = (error as Error & { originalError: Error }).originalError;
    const said = { number: 18456, class: 14, message: "Login failed." };
    rememberLoginErrors(original, [said, said, "something else"]);
    const mapped = mapMssqlError(error, "not sent");
    expect(mapped.message).toBe("SQL Server can't be reached (18456): Login failed.");
    expect(hasNumber(error, 18456)).toBe(true);
  });

  test("a token that can't be had says why", () => {
    const parts = [
      Object.assign(new Error("Security token could not be authenticated or authorized."), {
        code: "EFEDAUTH",
      }),
      new Error("ManagedIdentityCredential authentication failed"),
    ];
    const error = new sql.ConnectionError(new AggregateError(parts));
    expect(mapMssqlError(error, "not sent").message).toMatch(/token.*; ManagedIdentityCredential/);
  });
});

describe("a transaction that is over", () => {
  test("a transaction that is over names the error that ended it, and may be repeated when that may", () => {
    const deadlock = transactionOver(fromExecute({ number: 1205 }));
    expect(deadlock).toMatchObject({ code: "TASKGATE_STORE_CONFLICT", isRetryable: true });
    expect(deadlock.message).toContain("1205");
    const cut = transactionOver(lost("ECONNRESET"));
    expect(cut).toMatchObject({ code: "TASKGATE_STORE_UNAVAILABLE", isRetryable: true });
    const refused = transactionOver(fromExecute({ number: 50422, message: "bad" }));
    expect(refused).toMatchObject({ code: "TASKGATE_STORE_CONTEXT", isRetryable: false });
    expect(refused.message).toContain("bad");
  });

  test("a transaction that its own statement ended names no other cause", () => {
    expect(transactionOver(undefined)).toMatchObject({ code: "TASKGATE_STORE_CONTEXT" });
  });

  test("EABORT has its reason inside", () => {
    const error = Object.assign(new sql.TransactionError("aborted", "EABORT"), {
      originalError: fromExecute({ number: 1205 }),
    });
    expect(mapMssqlError(error, "sent")).toBeInstanceOf(TaskgateError);
    expect(mapMssqlError(error, "sent").code).toBe("TASKGATE_STORE_CONFLICT");
  });
});

describe("what SQL Server says when it can't now, in a user's statement", () => {
  const rows = mssqlTroubles.flatMap(({ numbers, ...row }) =>
    numbers.map((number) => ({ number, ...row })),
  );

  test.each(rows)("$number ($meaning) is told as the store's trouble: $trouble", (row) => {
    const error = storeTroubleOf(fromQuery({ number: row.number }));
    // Undone for sure: the commit had not been sent.
    const code = row.trouble === "conflict" ? "CONFLICT" : "UNAVAILABLE";
    expect(error).toMatchObject({ code: `TASKGATE_STORE_${code}` });
  });

  test("each number stands in the table once", () => {
    expect(new Set(rows.map(({ number }) => number)).size).toBe(rows.length);
  });

  test.each([2627, 547, 8134])("%i is the user's own and passes", (number) => {
    expect(storeTroubleOf(fromQuery({ number }))).toBeNull();
  });
});
