import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../shared/core/errors";
import { readPostgresTarget } from "../../../shared/store/postgres/postgres-tls";

const certificate = join(__dirname, "../../fixtures/tls/certificate.pem");
const key = join(__dirname, "../../fixtures/tls/key.pem");
const folder = mkdtempSync(join(tmpdir(), "taskgate-tls-"));
const notPem = join(folder, "not.pem");
writeFileSync(notPem, "nothing");

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function messageOf(url: string): string {
  try {
    readPostgresTarget(url);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidArgumentError);
    return error instanceof Error ? error.message : "";
  }
  throw new Error("nothing was thrown");
}

const checked = { rejectUnauthorized: true };

describe("the address of a PostgreSQL", () => {
  test.each([
    ["postgres://u:p@db.example.net/d", checked],
    ["postgresql://u:p@db.example.net/d", checked],
    ["postgres://u:p@10.0.0.4:5433/d?application_name=x", checked],
    ["postgres://u:p@db.localhost/d", checked],
    ["postgres://u:p@0.0.0.0/d", checked],
    ["postgres://u:p@[::ffff:127.0.0.1]/d", checked],
    ["postgres://u:p@127.1/d", checked],
    ["postgres://u:p@localhost/d?host=db.example.net", checked],
    ["postgres://u:p@localhost/d?host=127.0.0.1&host=db.example.net", checked],
    ["postgres://u:p@db.example.net/d?sslmode=require", checked],
    ["postgres://u:p@db.example.net/d?sslmode=verify-ca", checked],
    ["postgres://u:p@db.example.net/d?sslmode=verify-full&sslrootcert=system", checked],
    ["postgres://u:p@localhost/d?sslmode=verify-full", checked],
    ["postgres://u:p@localhost/d?sslrootcert=system", checked],
    ["postgres://u:p@localhost/d", false],
    ["postgres://u:p@LOCALHOST/d", false],
    ["postgres://u:p@127.0.0.2:1/d", false],
    ["postgres://u:p@[::1]:1/d", false],
    ["postgres://u:p@[0:0:0:0:0:0:0:1]/d", false],
    ["postgres://u@%2Frun%2Fpostgresql/d", false],
    ["postgres:///d?host=/run/postgresql", false],
    ["postgres://u:p@db.example.net/d?sslmode=disable", false],
  ])("%s asks for %j", (url, expected) => {
    expect(readPostgresTarget(url).ssl).toEqual(expected);
  });

  test.each([
    ["postgres://u:secret@one,two/d", "several hosts"],
    ["postgres://u:secret@one:5432,two:5433/d", "several hosts"],
    ["postgres://u:secret@one/d?host=one,two", "several hosts"],
    ["postgres://u:secret@one/d?target_session_attrs=read-write", "`target_session_attrs`"],
    ["postgres://u:secret@one/d?load_balance_hosts=random", "`load_balance_hosts`"],
  ])("%s names no single server, and is refused without a word of the address", (url, got) => {
    const message = messageOf(url);
    expect(message).toContain(`to name one server, got ${got}: the driver chooses none.`);
    expect(message).not.toContain("secret");
  });

  test("a choice that chooses nothing is let through", () => {
    const url = "postgres://u:p@localhost/d?target_session_attrs=any&load_balance_hosts=disable";
    expect(readPostgresTarget(url).ssl).toBe(false);
  });

  test("the address of a PostgreSQL keeps all that isn't about TLS, and leaves the driver nothing to decide", () => {
    const url = `postgres://u:p%40s@h:1/d?sslmode=verify-full&sslrootcert=${certificate}&application_name=x`;
    expect(readPostgresTarget(url).connectionString).toBe(
      "postgres://u:p%40s@h:1/d?application_name=x",
    );
  });

  test("the address of a PostgreSQL names files of an authority and of a client's certificate", () => {
    const url = `postgres://u:p@h/d?sslrootcert=${certificate}&sslcert=${certificate}&sslkey=${key}`;
    const pem: unknown = expect.stringMatching(/^-----BEGIN /);
    expect(readPostgresTarget(url).ssl).toEqual({ ...checked, ca: pem, cert: pem, key: pem });
  });

  test.each([
    ["postgres://u:secret@h/d?sslmode=prefer", /verify-full, got `prefer`.*sslmode=disable/],
    ["postgres://u:secret@h/d?sslmode=no-verify", /got `no-verify`.*sslrootcert=FILE/],
    ["postgres://u:secret@localhost/d?sslmode=Disable", /got `Disable`/],
    ["postgres://u:secret@h/d?sslmode=", /`sslmode`.* one value, got none/],
    ["postgres://u:secret@h/d?sslmode=verify-full&sslmode=disable", /`sslmode`.* got several/],
    ["postgres://u:secret@h/d?ssl=false", /`sslmode`, got `ssl`/],
    ["postgres://u:secret@h/d?uselibpqcompat=true&sslmode=require", /got `uselibpqcompat`/],
    ["postgres://u:secret@h/d?sslmode=disable&sslrootcert=x", /no `sslrootcert`/],
    ["postgres://u:secret@h/d?sslrootcert=/nowhere/x.pem", /`sslrootcert`.* \(ENOENT\)/],
    [`postgres://u:secret@h/d?sslrootcert=${notPem}`, /`sslrootcert`.* PEM/],
    [`postgres://u:secret@h/d?sslcert=${certificate}`, /`sslcert` and `sslkey`.* together/],
    ["postgres:///d", /postgres:\/\/user:password@host:port\/database/],
    ["postgres://u:sec/secret@h/d", /%2F/],
    ["postgres://u:secret@%zz/d", /postgres:\/\/user:password@host:port\/database/],
  ])("%s is refused without showing the password", (url, expected) => {
    const message = messageOf(url);
    expect(message).toMatch(expected);
    expect(message).not.toContain("secret");
  });
});
