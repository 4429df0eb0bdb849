import { readFileSync } from "node:fs";
import { InvalidArgumentError, StoreUnavailableError } from "../../core/errors";
import { textAt } from "../../core/foreign-value";
import { isLoopback } from "../../core/loopback";

/**
 * How connections to PostgreSQL are kept from strangers. The driver speaks in the clear unless it is told otherwise; here
 * it is the other way round: TLS with a checked certificate, unless the server is this machine or the address says
 * `sslmode=disable`. Neither PGSSLMODE nor another variable of the environment changes that.
 */

/** What the driver is told of TLS: off, or whom to trust. */
export type PostgresTls = false | PostgresTrust;

/** Texts in PEM form. Without `ca` the authorities that Node trusts. */
export interface PostgresTrust {
  readonly rejectUnauthorized: true;
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** The part of the driver's configuration that says where the server is and how to reach it. */
export interface PostgresTarget {
  readonly connectionString: string;
  readonly ssl: PostgresTls;
}

/** With a certificate that is checked against the host's name, also where libpq wouldn't check it for this word. */
const tlsModes: readonly string[] = ["require", "verify-ca", "verify-full"];
/** Options that this file reads, so that the driver reads none of them. */
const ownOptions = ["sslmode", "sslrootcert", "sslcert", "sslkey"] as const;
type OwnOption = (typeof ownOptions)[number];
/** Other ways to say something of TLS to the driver, which would weaken it or contradict `sslmode`. */
const refusedOptions: readonly string[] = ["ssl", "uselibpqcompat"];
/** libpq's ways to choose among several servers, which the driver passes over without a word. */
const unheededOptions: readonly string[] = ["target_session_attrs", "load_balance_hosts"];
/** Of an address with several hosts Node reads none. */
const severalHosts = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?[^/?#@]*,/;

/** Node's own authorities, in libpq's word. */
const systemAuthorities = "system";

/**
 * Reads an address. Off the machine itself TLS is on, also unasked. Sends nothing; reads the files that `sslrootcert`,
 * `sslcert` and `sslkey` name. Throws InvalidArgumentError, whose message never holds the address.
 */
export function readPostgresTarget(address: string): PostgresTarget {
  const url = readUrl(address);
  refuseSeveralHosts(url);
  const host = hostOf(url);
  const options = takeOptions(url);
  const mode = options.get("sslmode") ?? (options.size > 0 || !isNear(host) ? "verify-full" : null);
  if (mode === null || mode === "disable") {
    const extra = [...options.keys()].find((name) => name !== "sslmode");
    if (extra !== undefined) {
      throw new InvalidArgumentError(
        `Expected no \`${extra}\` in the database's address beside sslmode=disable, which asks for no TLS`,
      );
    }
    return { connectionString: url.toString(), ssl: false };
  }
  if (!tlsModes.includes(mode)) {
    throw new InvalidArgumentError(
      `Expected \`sslmode\` in the database's address to be verify-full, got \`${mode.slice(0, 20)}\`. A certificate of your own authority is trusted by sslrootcert=FILE; sslmode=disable sends the password and all data in the clear`,
    );
  }
  return { connectionString: url.toString(), ssl: readTrust(options) };
}

/** Says what to do where TLS is the reason that connecting failed; undefined for another reason. Nothing was sent yet. */
export function explainTlsFailure(error: unknown): StoreUnavailableError | undefined {
  const code = textAt(error, "code") ?? "";
  const isRefused = textAt(error, "message") === "The server does not support SSL connections";
  if (!isRefused && !certificateFault.test(code)) return undefined;
  const reason = isRefused
    ? "PostgreSQL offers no TLS, which its address asks for, as every one of another machine does: nothing was sent. Give the server a certificate"
    : `PostgreSQL's certificate can't be trusted (${code}): nothing was sent. Name its authority's file by sslrootcert=FILE, and the server as the certificate does`;
  return new StoreUnavailableError(
    `${reason}; where the password and all data may travel in the clear write sslmode=disable into the address`,
    { cause: error },
  );
}

/** Codes of Node for a certificate that fails its check. */
const certificateFault =
  /^(?:ERR_TLS_CERT_|CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|INVALID_CA$|HOSTNAME_MISMATCH$)/;

function readUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url !== null && /^postgres(?:ql)?:$/.test(url.protocol) && hostOf(url) !== "") return url;
  if (severalHosts.test(address)) throw oneServer("several hosts");
  // Never the text itself: it holds the password.
  throw new InvalidArgumentError(
    "Expected the database's address to be postgres://user:password@host:port/database, with @ : / ? # and % in user and password written as %40 %3A %2F %3F %23 and %25",
  );
}

function refuseSeveralHosts(url: URL): void {
  const option = unheededOptions.find((name) => {
    const value = url.searchParams.get(name);
    return value !== null && value !== "any" && value !== "disable";
  });
  if (option !== undefined) throw oneServer(`\`${option}\``);
  if (hostOf(url).includes(",")) throw oneServer("several hosts");
}

function oneServer(got: string): InvalidArgumentError {
  return new InvalidArgumentError(
    `Expected the database's address to name one server, got ${got}: the driver chooses none. Name what leads to the server that takes writes: a DNS name or an address that a failover moves, a proxy, a pooler`,
  );
}

/** Where the driver connects to: `host` in the query comes before the host of the address, and its last one counts. */
function hostOf(url: URL): string {
  const host = url.searchParams.getAll("host").at(-1) ?? "";
  if (host !== "") return host;
  try {
    return decodeURIComponent(url.hostname).replace(/^\[|\]$/g, "");
  } catch {
    return "";
  }
}

/** The machine itself: its loopback addresses, and a socket's folder. */
function isNear(host: string): boolean {
  return host.startsWith("/") || isLoopback(host);
}

/** Takes this file's options out of the address. */
function takeOptions(url: URL): Map<OwnOption, string> {
  const options = new Map<OwnOption, string>();
  for (const name of refusedOptions) {
    if (!url.searchParams.has(name)) continue;
    throw new InvalidArgumentError(
      `Expected TLS in the database's address to be asked for by \`sslmode\`, got \`${name}\`. Write sslmode=verify-full or sslmode=disable`,
    );
  }
  for (const name of ownOptions) {
    const values = url.searchParams.getAll(name);
    const [value = ""] = values;
    if (values.length === 0) continue;
    if (values.length > 1 || value === "") {
      const got = value === "" ? "none" : "several";
      throw new InvalidArgumentError(
        `Expected \`${name}\` in the database's address to have one value, got ${got}`,
      );
    }
    options.set(name, value);
    url.searchParams.delete(name);
  }
  return options;
}

function readTrust(options: ReadonlyMap<OwnOption, string>): PostgresTrust {
  const authority = options.get("sslrootcert");
  const parts = {
    ca: authority === systemAuthorities ? undefined : readPem("sslrootcert", authority),
    cert: readPem("sslcert", options.get("sslcert")),
    key: readPem("sslkey", options.get("sslkey")),
  };
  if ((parts.cert === undefined) !== (parts.key === undefined)) {
    throw new InvalidArgumentError(
      "Expected `sslcert` and `sslkey` in the database's address together, got one of them",
    );
  }
  return {
    rejectUnauthorized: true,
    ...(parts.ca === undefined ? {} : { ca: parts.ca }),
    ...(parts.cert === undefined ? {} : { cert: parts.cert }),
    ...(parts.key === undefined ? {} : { key: parts.key }),
  };
}

function readPem(name: OwnOption, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new InvalidArgumentError(
      `Expected \`${name}\` in the database's address to name a file that can be read (${textAt(error, "code") ?? ""})`,
      { cause: error },
    );
  }
  // OpenSSL takes a text without a certificate as a list of no trusted authority, and says so only when it connects.
  if (text.includes("-----BEGIN ")) return text;
  throw new InvalidArgumentError(
    `Expected \`${name}\` in the database's address to name a file in PEM form, with -----BEGIN in it`,
  );
}
