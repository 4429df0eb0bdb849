import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../shared/core/errors";
import { isLoopback } from "../../../shared/core/loopback";
import { parseMssqlAddress, toDriverConfig } from "../../../shared/store/mssql/mssql-options";
import type { MssqlAddress } from "../../../shared/store/mssql/mssql-options";

const limits = { connectionsMax: 3, callTimeoutMs: 20_000, connectTimeoutMs: 9_000 };

function messageOf(address: MssqlAddress): string {
  try {
    parseMssqlAddress(address);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidArgumentError);
    return error instanceof Error ? error.message : "";
  }
  throw new Error("nothing was thrown");
}

describe("the address of a SQL Server", () => {
  test("the address of a SQL Server is read with defaults: encrypted, certificate checked, port 1433", () => {
    expect(parseMssqlAddress({ url: "mssql://sa:p%40s%2Fs@db.example.net/Task%20gate" })).toEqual({
      server: "db.example.net",
      port: 1433,
      instance: null,
      database: "Task gate",
      signIn: { kind: "password", user: "sa", password: "p@s/s" },
      encrypt: true,
      trustServerCertificate: false,
      certificateName: null,
      multiSubnetFailover: false,
    });
  });

  test("the address of a SQL Server may name port, certificate, failover and strict encryption", () => {
    const target = parseMssqlAddress({
      url: "mssql://u:p@h:14330/d?encrypt=strict&certificateName=sql.example&multiSubnetFailover=true",
    });
    expect(target).toMatchObject({
      port: 14330,
      encrypt: "strict",
      certificateName: "sql.example",
      multiSubnetFailover: true,
    });
  });

  test("the address of a SQL Server trusts any certificate on the machine itself, unless told otherwise", () => {
    const trusts = (url: string): boolean => parseMssqlAddress({ url }).trustServerCertificate;
    expect(trusts("mssql://u:p@localhost/d")).toBe(true);
    expect(trusts("mssql://u:p@[::1]:5/d")).toBe(true);
    expect(trusts("mssql://u:p@127.0.0.1/d?trustServerCertificate=false")).toBe(false);
    expect(trusts("mssql://u:p@localhost/d?encrypt=strict")).toBe(false);
    expect(trusts("mssql://u:p@h/d")).toBe(false);
    expect(trusts("mssql://u:p@h/d?trustServerCertificate=true")).toBe(true);
  });

  test("the address of a SQL Server goes in the clear on the machine itself, elsewhere only with allowCleartext", () => {
    expect(parseMssqlAddress({ url: "mssql://u:p@localhost/d?encrypt=false" }).encrypt).toBe(false);
    expect(messageOf({ url: "mssql://u:secret@h/d?encrypt=false" })).toMatch(/in the clear/);
    const url = "mssql://u:p@h/d?encrypt=false&allowCleartext=true";
    expect(parseMssqlAddress({ url }).encrypt).toBe(false);
  });

  test.each([
    ["mssql://u:secret@h/d?encrpt=true", /got another one\. Did you mean `encrypt`\?/],
    ["mssql://u:secret@h/d?trustservercertificate=true", /Did you mean `trustServerCertificate`\?/],
    ["mssql://u:secret@h/d?nonsense=1", /among encrypt, .*, got another one\.$/],
    [
      "mssql://u:secret@h/d?encrypt=yes",
      /`encrypt` to be true, false or strict, got another value/,
    ],
    ["mssql://u:secret@h/d?encrypt=", /`encrypt`.* to have a value/],
    ["mssql://u:secret@h/d?encrypt=true&encrypt=false", /`encrypt` once/],
    ["mssql://u:secret@h/d?multiSubnetFailover=1", /true or false, got another value/],
    ["mssql://u:secret@h:1/d?instance=x", /a port or an `instance`/],
    ["mssql://u:secret@h/d?encrypt=strict&trustServerCertificate=true", /always checks/],
    ["mssql://u:secret@h", /mssql:\/\/user:password@host:port\/database/],
    ["mssql://u:secret@h/a/b", /mssql:\/\/user:password@host:port\/database/],
    ["mssql://h/d", /mssql:\/\/user:password@host:port\/database/],
    ["mssql://u:sec/ret@h/d", /%2F/],
    ["mssql://u:%zzsecret@h/d", /percent-encoded/],
    ["server=h;password=secret", /mssql:\/\/user:password@host:port\/database/],
  ])("%s is refused without showing the password", (url, expected) => {
    const message = messageOf({ url });
    expect(message).toMatch(expected);
    expect(message).not.toContain("secret");
  });

  test("the address of a SQL Server may be a server, a database and an identity: always encrypted and checked", () => {
    const identity = { server: "s.database.windows.net", database: "taskgate", clientId: null };
    expect(parseMssqlAddress({ identity })).toMatchObject({
      port: 1433,
      encrypt: true,
      trustServerCertificate: false,
      signIn: { kind: "identity", clientId: null },
    });
    expect(messageOf({ identity: { ...identity, server: "s:1433/x" } })).toMatch(/host name/);
    expect(messageOf({ identity: { ...identity, database: "" } })).toMatch(/database's name/);
  });

  test("the address of a SQL Server is one of both", () => {
    const identity = { server: "s", database: "d", clientId: null };
    expect(messageOf({})).toMatch(/one of `url` and `identity`/);
    expect(messageOf({ url: "mssql://u:p@h/d", identity })).toMatch(/one of `url` and `identity`/);
  });

  test.each([
    ["localhost", true],
    ["db.localhost", false],
    ["LocalHost", true],
    ["127.999.1.1", false],
    ["::ffff:127.0.0.1", false],
    ["0.0.0.0", false],
    ["127.1.2.3", true],
    ["::1", true],
    ["127.0.0.1.example.net", false],
    ["localhost.example.net", false],
    ["10.0.0.1", false],
  ])("%s is the machine itself: %s", (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});

describe("the driver's configuration", () => {
  test("bounds every wait, keeps no idle connections and asks no question before a call", () => {
    const config = toDriverConfig(parseMssqlAddress({ url: "mssql://u:p@h:1/d" }), limits);
    expect(config).toMatchObject({
      server: "h",
      port: 1,
      user: "u",
      password: "p",
      connectionTimeout: 9_000,
      requestTimeout: 20_000,
      validateConnection: "socket",
      pool: { min: 0, max: 3, idleTimeoutMillis: 30_000, acquireTimeoutMillis: 9_000 },
      options: {
        appName: "taskgate",
        encrypt: true,
        trustServerCertificate: false,
        packetSize: 16_000,
        useUTC: true,
        cancelTimeout: 5_000,
      },
    });
    expect(config.options).not.toHaveProperty("serverName");
  });

  test("the driver's configuration gives a name to TLS where the address is a number of the machine itself", () => {
    const local = toDriverConfig(parseMssqlAddress({ url: "mssql://u:p@127.0.0.1/d" }), limits);
    expect(local.options?.serverName).toBe("localhost");
  });

  test("the driver's configuration leaves the port to the SQL Browser for a named instance", () => {
    const url = "mssql://u:p@h/d?instance=SQLEXPRESS";
    const config = toDriverConfig(parseMssqlAddress({ url }), limits);
    expect(config).not.toHaveProperty("port");
    expect(config.options?.instanceName).toBe("SQLEXPRESS");
  });

  test("the driver's configuration has no password for an identity", () => {
    const identity = { server: "s", database: "d", clientId: "c" };
    const config = toDriverConfig(parseMssqlAddress({ identity }), limits);
    expect(config).not.toHaveProperty("user");
    expect(config).not.toHaveProperty("password");
  });

  test("the driver's configuration sends the token of an identity in packets that a server takes before it has granted a size", () => {
    const identity = { server: "s", database: "d", clientId: "c" };
    const config = toDriverConfig(parseMssqlAddress({ identity }), limits);
    expect(config.options).not.toHaveProperty("packetSize");
  });
});
