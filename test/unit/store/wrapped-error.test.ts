import { describe, expect, test } from "@jest/globals";
import { mapPostgresError } from "../../../shared/store/postgres/postgres-errors";
import { serverErrorOf } from "../../../shared/store/postgres/wrapped-error";
import { wrappers } from "../../client/wrapped-errors";

/* An ORM's error is read as pg's error of the same statement. */
const text = "select * from taskgate.enqueue_tasks($1::text)";
const thrown = Object.assign(new Error("name: unknown definition (x)"), {
  code: "TG404",
  severity: "ERROR",
  where: "PL/pgSQL function enqueue_tasks(text) line 36 at RAISE",
});

describe.each(wrappers)("the server's error in one of $orm", ({ wrap }) => {
  test("the server's error within an ORM's has its code and message, and the ORM's error as its cause", () => {
    const given = wrap(thrown, text);
    const found = serverErrorOf(given, text);
    expect(found).toMatchObject({ code: "TG404", severity: "ERROR", cause: given });
    expect(String(found)).toBe("Error: name: unknown definition (x)");
    expect(mapPostgresError(found, "sent").code).toBe("TASKGATE_ARG_UNKNOWN");
  });

  test("the server's error within an ORM's is a conflict where the server ended a deadlock", () => {
    const deadlock = Object.assign(new Error("deadlock detected"), { code: "40P01" });
    const found = serverErrorOf(wrap(deadlock, text), text);
    expect(mapPostgresError(found, "sent").code).toBe("TASKGATE_STORE_CONFLICT");
  });
});

test("Prisma's own engine keeps the server's code and message in `meta`", () => {
  const meta = { code: "TG422", message: "payload: bad" };
  const given = Object.assign(new Error("Raw query failed"), { code: "P2010", meta });
  expect(mapPostgresError(serverErrorOf(given, text), "sent")).toMatchObject({
    code: "TASKGATE_ARG_INVALID",
  });
});

test.each([
  ["of Prisma's own", Object.assign(new Error("closed"), { code: "P2028", meta: {} })],
  ["of Node", Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" })],
  ["without a code", new Error("Transaction is already committed")],
  ["that is a text", "no"],
  ["that is nothing", undefined],
])("an error %s stays as it is", (_, given) => {
  expect(serverErrorOf(given, text)).toBe(given);
});

test("an error within itself ends the search, and one that can't be read is passed over", () => {
  const circle: { cause?: unknown } = new Error("round");
  circle.cause = circle;
  expect(serverErrorOf(circle, text)).toBe(circle);
  const locked = Object.defineProperty(new Error("locked"), "cause", {
    get: () => {
      throw new Error("not for you");
    },
  });
  expect(serverErrorOf(locked, text)).toBe(locked);
});

test.each(["CONNECTION_CLOSED", "ECONNRESET", "EPIPE"])(
  "a connection that broke with %s leaves the call in doubt",
  (code) => {
    const given = new Error("failed", { cause: Object.assign(new Error("write"), { code }) });
    expect(mapPostgresError(serverErrorOf(given, text), "sent").code).toBe(
      "TASKGATE_STORE_UNCERTAIN",
    );
  },
);
