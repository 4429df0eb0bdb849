import type { config as DriverConfig } from "mssql";
import { InvalidArgumentError } from "../../core/errors";
import { didYouMean } from "../../core/near-name";
import type { ConnectionLimits } from "../connection-limits";
import { isLoopback } from "../../core/loopback";

/** A database reached with the Entra identity of this process, without a password. */
export interface DatabaseIdentity {
  /** Host name of the server, such as name.database.windows.net. */
  readonly server: string;
  readonly database: string;
  /** Of a user-assigned identity; null: the system's, or a developer's sign-in. */
  readonly clientId: string | null;
}

/** Where the database is: one of both. */
export interface MssqlAddress {
  /** `mssql://user:password@host:port/database?encrypt=..` */
  readonly url?: string;
  readonly identity?: DatabaseIdentity;
}

/** An address, read and checked. */
export interface MssqlTarget {
  readonly server: string;
  /** Null: asked from the SQL Browser of the host by the name of the instance. */
  readonly port: number | null;
  readonly instance: string | null;
  readonly database: string;
  readonly signIn:
    | { readonly kind: "password"; readonly user: string; readonly password: string }
    | { readonly kind: "identity"; readonly clientId: string | null };
  /** `strict`: TLS from the first byte (TDS 8.0; Azure SQL, SQL Server 2022 and later). */
  readonly encrypt: boolean | "strict";
  readonly trustServerCertificate: boolean;
  /** Name that the certificate must bear; null: the host's. */
  readonly certificateName: string | null;
  readonly multiSubnetFailover: boolean;
}

/** How long the driver waits for the server to confirm a cancelled call before it drops the connection. */
export const cancelTimeoutMs = 5_000;

const defaultPort = 1433;
const idleTimeoutMs = 30_000;
/**
 * Claims and enqueued rows are larger than the default of 4,096 bytes; with TLS a packet has at most 16,383 [doc: network
 * packet size]. Not for identities: the driver uses the wanted size at once, but until the server has granted one no packet may
 * be larger than 4,096 [doc: MS-TDS 2.2.3.1.3], and a token of more than 2,040 characters is. Azure SQL then resets the
 * connection.
 */
const packetSizeBytes = 16_000;

const expectedUrl = "mssql://user:password@host:port/database";
const hostName = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;

const urlOptions = [
  "encrypt",
  "trustServerCertificate",
  "allowCleartext",
  "certificateName",
  "instance",
  "multiSubnetFailover",
] as const;
type UrlOption = (typeof urlOptions)[number];

/** Reads and checks an address. Throws InvalidArgumentError, whose message never holds the password. */
export function parseMssqlAddress(address: MssqlAddress): MssqlTarget {
  const { url, identity } = address;
  if (url !== undefined && identity === undefined) return parseUrl(url);
  if (identity !== undefined && url === undefined) return parseIdentity(identity);
  throw new InvalidArgumentError(
    "Expected the database's address to be one of `url` and `identity`",
  );
}

/**
 * What the driver wants to know, without how to sign in with an identity (mssql-pool.ts).
 * `validateConnection: "socket"`: a connection is lent when its socket looks alive, without asking the server. The
 * driver's default asks `SELECT 1` before each call, one more round trip: over loopback without it 1.7 times as many
 * calls (median of five rounds on a busy machine). The price: after a failover a call may meet a dead connection; it
 * fails as unavailable or uncertain, its connection is closed, and the store repeats the calls that are safe to repeat.
 */
export function toDriverConfig(target: MssqlTarget, limits: ConnectionLimits): DriverConfig {
  // An IP address can't be a TLS server name; where certificates are trusted unseen any name does.
  const serverName =
    target.certificateName ??
    (target.trustServerCertificate && isLoopback(target.server) ? "localhost" : null);
  return {
    server: target.server,
    database: target.database,
    ...(target.port === null ? {} : { port: target.port }),
    ...(target.signIn.kind === "password"
      ? { user: target.signIn.user, password: target.signIn.password }
      : {}),
    connectionTimeout: limits.connectTimeoutMs,
    requestTimeout: limits.callTimeoutMs,
    validateConnection: "socket",
    pool: {
      min: 0,
      max: limits.connectionsMax,
      idleTimeoutMillis: idleTimeoutMs,
      acquireTimeoutMillis: limits.connectTimeoutMs,
      // The connection's own time-outs come first (mssql-pool.ts).
      createTimeoutMillis: 2 * limits.connectTimeoutMs + 5_000,
    },
    options: {
      appName: "taskgate",
      encrypt: target.encrypt,
      trustServerCertificate: target.trustServerCertificate,
      ...(serverName === null ? {} : { serverName }),
      ...(target.instance === null ? {} : { instanceName: target.instance }),
      multiSubnetFailover: target.multiSubnetFailover,
      ...(target.signIn.kind === "password" ? { packetSize: packetSizeBytes } : {}),
      cancelTimeout: cancelTimeoutMs,
      useUTC: true,
    },
  };
}

function parseUrl(text: string): MssqlTarget {
  const url = readUrl(text);
  const options = readOptions(url);
  const server = url.hostname.replace(/^\[|\]$/g, "");
  const isLocal = isLoopback(server);
  const encrypt = readEncrypt(options.get("encrypt"));
  const allowCleartext = readFlag("allowCleartext", options.get("allowCleartext")) ?? false;
  if (encrypt === false && !isLocal && !allowCleartext) {
    throw new InvalidArgumentError(
      `Expected \`encrypt\` to be true or strict for ${server}, got \`false\`: the password and all data would travel in the clear. Where that is wanted add allowCleartext=true`,
    );
  }
  const trust = readFlag("trustServerCertificate", options.get("trustServerCertificate"));
  if (encrypt === "strict" && trust === true) {
    throw new InvalidArgumentError(
      "Expected no trustServerCertificate=true with encrypt=strict, which always checks the certificate",
    );
  }
  const instance = options.get("instance") ?? null;
  if (instance !== null && url.port !== "") {
    throw new InvalidArgumentError(
      "Expected the database's address to have a port or an `instance`, got both",
    );
  }
  return {
    server,
    port: instance === null ? Number(url.port === "" ? defaultPort : url.port) : null,
    instance,
    database: decode("database", url.pathname.slice(1)),
    signIn: {
      kind: "password",
      user: decode("user", url.username),
      password: decode("password", url.password),
    },
    encrypt,
    trustServerCertificate: trust ?? (isLocal && encrypt !== "strict"),
    certificateName: options.get("certificateName") ?? null,
    multiSubnetFailover:
      readFlag("multiSubnetFailover", options.get("multiSubnetFailover")) ?? false,
  };
}

function parseIdentity(identity: DatabaseIdentity): MssqlTarget {
  if (!hostName.test(identity.server)) {
    throw new InvalidArgumentError(
      `Expected the database's server to be a host name such as name.database.windows.net, got none such`,
    );
  }
  if (identity.database === "") {
    throw new InvalidArgumentError("Expected the database's name, got an empty text");
  }
  return {
    server: identity.server,
    port: defaultPort,
    instance: null,
    database: identity.database,
    signIn: { kind: "identity", clientId: identity.clientId },
    encrypt: true,
    trustServerCertificate: false,
    certificateName: null,
    multiSubnetFailover: false,
  };
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const parts = url === null ? [] : [url.hostname, url.username, url.pathname.slice(1)];
  if (url?.protocol !== "mssql:" || parts.includes("") || parts[2]?.includes("/") !== false) {
    // Never the text itself: it holds the password.
    throw new InvalidArgumentError(
      `Expected the database's address to be ${expectedUrl}, with @ : / ? # and % in user and password written as %40 %3A %2F %3F %23 and %25`,
    );
  }
  return url;
}

function readOptions(url: URL): Map<UrlOption, string> {
  const options = new Map<UrlOption, string>();
  for (const [name, value] of url.searchParams) {
    const option = urlOptions.find((candidate) => candidate === name);
    if (option === undefined) {
      throw new InvalidArgumentError(
        `Expected the options of the database's address to be among ${urlOptions.join(", ")}, got another one.${didYouMean(name, urlOptions)}`,
      );
    }
    if (options.has(option)) {
      throw new InvalidArgumentError(
        `Expected the database's address to have \`${name}\` once, got it twice`,
      );
    }
    if (value === "") {
      throw new InvalidArgumentError(
        `Expected \`${name}\` of the database's address to have a value, got none`,
      );
    }
    options.set(option, value);
  }
  return options;
}

function readEncrypt(value: string | undefined): boolean | "strict" {
  if (value === "strict") return value;
  if (value === undefined || value === "true") return true;
  if (value === "false") return false;
  throw new InvalidArgumentError(
    `Expected \`encrypt\` to be true, false or strict, got another value`,
  );
}

function readFlag(name: UrlOption, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  if (value === "true") return true;
  if (value === "false") return false;
  throw new InvalidArgumentError(`Expected \`${name}\` to be true or false, got another value`);
}

function decode(part: string, text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new InvalidArgumentError(
      `Expected the ${part} in the database's address to be percent-encoded (% as %25)`,
    );
  }
}
