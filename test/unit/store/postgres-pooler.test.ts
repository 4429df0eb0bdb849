import { describe, expect, test } from "@jest/globals";
import { mapPostgresError, storeTroubleOf } from "../../../shared/store/postgres/postgres-errors";
import { readPreparesStatements } from "../../../shared/store/postgres/postgres-pooler";

/** As the driver makes them of what the other end sends. */
function said(message: string, { severity = "FATAL", code = "08P01" } = {}): Error {
  return Object.assign(new Error(message), { severity, code });
}

describe("prepared_statements in the database's address", () => {
  test.each([
    ["", true],
    ["?prepared_statements=on", true],
    ["?sslmode=disable&prepared_statements=off", false],
  ])("`%s` means names: %s", (query, expected) => {
    expect(readPreparesStatements(`postgres://app:secret@db:6432/app${query}`)).toBe(expected);
  });

  test.each([
    ["?prepared_statements=", "got ``"],
    ["?prepared_statements=false", "got `false`"],
    ["?prepared_statements=off&prepared_statements=on", "got several"],
  ])("`%s` is refused, naming the option and never the password", (query, got) => {
    const read = (): boolean => readPreparesStatements(`postgres://app:secret@db/app${query}`);
    expect(read).toThrow(expect.objectContaining({ code: "TASKGATE_ARG_INVALID" }));
    expect(read).toThrow(got);
    expect(read).not.toThrow("secret");
  });
});

describe("what PgBouncer says", () => {
  test.each(["query_wait_timeout", "server conn crashed?", "server login has been failing"])(
    "`%s` is an outage, also of a user's own statement",
    (message) => {
      expect(mapPostgresError(said(message), "not sent").code).toBe("TASKGATE_STORE_UNAVAILABLE");
      expect(mapPostgresError(said(message), "sent").code).toBe("TASKGATE_STORE_UNCERTAIN");
      expect(storeTroubleOf(said(message))?.code).toBe("TASKGATE_STORE_UNAVAILABLE");
    },
  );

  test.each(["unsupported startup parameter: statement_timeout", "no such user", "SSL required"])(
    "`%s` is a fault of the configuration, which no repeat mends",
    (message) => {
      expect(mapPostgresError(said(message), "not sent").code).toBe("TASKGATE_STORE_CONTRACT");
    },
  );

  test("a session that the server can't begin, as on a full disk, is an outage; in a session the same code isn't", () => {
    const error = said("could not write init file", { code: "XX000" });
    expect(mapPostgresError(error, "not sent").code).toBe("TASKGATE_STORE_UNAVAILABLE");
    expect(mapPostgresError(error, "sent").code).toBe("TASKGATE_STORE_CONTRACT");
  });

  test("a violation of the protocol that the server itself tells isn't taken for an outage", () => {
    const error = said("bind message supplies 1 parameters", { severity: "ERROR" });
    expect(mapPostgresError(error, "sent").code).toBe("TASKGATE_STORE_CONTRACT");
    expect(storeTroubleOf(error)).toBeNull();
  });

  test.each(["26000", "42P05"])("%s says what to write into the address", (code) => {
    const error = said('prepared statement "taskgate_work"', { severity: "ERROR", code });
    expect(mapPostgresError(error, "sent")).toMatchObject({
      code: "TASKGATE_STORE_CONTRACT",
      message: expect.stringContaining("prepared_statements=off"),
    });
  });
});
