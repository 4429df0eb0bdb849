import { StoreUnavailableError } from "../../core/errors";
import type { TaskgateError } from "../../core/errors";
import { formatDuration } from "../../core/duration";
import type { Patience } from "../patience";
import { saidByServer } from "./mssql-errors";

/**
 * What Azure SQL answers for a while to those who come too early: the database wakes up, the server was made a minute
 * ago, the firewall was changed a minute ago. Here it is repeated; elsewhere it is an error.
 */

/** Refusals that pass by themselves [doc: Azure SQL, transient errors; 49918-49920: too many requests at once]. */
const passing: ReadonlyMap<number, string> = new Map([
  [40613, "the database isn't available yet: it wakes up, or moves"],
  [4060, "the database can't be opened yet"],
  [40197, "the service is changing over"],
  [40501, "the service is busy"],
  [49918, "the service has no room for the request"],
  [49919, "the service has too many requests of this subscription"],
  [49920, "the service has too many operations of this subscription"],
  [10928, "the database has used up its workers or sessions"],
  [10929, "the database has used up its share of the server"],
]);
/** The server's firewall; its message names the caller's address. A change takes up to five minutes. */
const firewall = 40615;
/** "Login failed": for an Entra token only, a new administrator becomes known some time after the server. */
const loginFailed = 18456;
/** "Deny Public Network Access is set to Yes": no wait changes that. */
const publicAccessOff = 47073;

const firstPauseMs = 1_000;
const pauseMsMax = 10_000;

interface Refusal {
  readonly number: number;
  readonly reason: string;
  /** This machine's, as the firewall sees it. */
  readonly address: string | null;
}

/**
 * Repeats `body`, which must be harmless to repeat, while the server refuses for now. A firewall that refuses this
 * machine is opened first, where `patience` can. Without patience the error says what to do instead.
 */
export async function withPatience<Result>(
  { patience, isIdentity }: { patience: Patience | undefined; isIdentity: boolean },
  body: () => Promise<Result>,
): Promise<Result> {
  const begunMs = patience?.monotonicMs() ?? 0;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await body();
    } catch (error) {
      const refusal = readRefusal(error, isIdentity);
      if (refusal === null) throw error;
      const waitedMs = (patience?.monotonicMs() ?? 0) - begunMs;
      const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** attempt);
      if (
        patience === undefined ||
        refusal.number === publicAccessOff ||
        waitedMs + pauseMs > patience.waitMs
      ) {
        throw explain(refusal, error, { patience, waitedMs });
      }
      if (refusal.address !== null) await patience.admit?.(refusal.address);
      const { number, reason } = refusal;
      patience.onWait({ number, reason, waitedMs, waitMs: patience.waitMs, pauseMs });
      await patience.sleep(pauseMs);
    }
  }
}

function readRefusal(error: unknown, isIdentity: boolean): Refusal | null {
  for (const { number, message } of saidByServer(error)) {
    const reason = passing.get(number);
    if (reason !== undefined) return { number, reason, address: null };
    if (number === publicAccessOff) {
      return { number, reason: "the server has no public address", address: null };
    }
    if (number !== firewall) continue;
    const address = /IP address '([0-9a-fA-F.:]+)'/.exec(message)?.[1] ?? null;
    return {
      number,
      reason: `the server's firewall doesn't admit ${address ?? "this machine's address"}`,
      address,
    };
  }
  // Last: the server says it behind 4060, too.
  const isRefused = saidByServer(error).some((entry) => entry.number === loginFailed);
  if (!isRefused || !isIdentity) return null;
  const reason = "the server doesn't know the Entra sign-in yet, or it isn't the administrator's";
  return { number: loginFailed, reason, address: null };
}

function explain(
  { number, reason, address }: Refusal,
  error: unknown,
  { patience, waitedMs }: { patience: Patience | undefined; waitedMs: number },
): TaskgateError {
  const waited =
    patience === undefined || number === publicAccessOff
      ? ""
      : ` Waited ${formatDuration(waitedMs)} for it.`;
  const message = `SQL Server refuses (${String(number)}): ${reason}.${waited} ${adviceOf(number, address, patience)}`;
  return new StoreUnavailableError(message, { cause: error });
}

function adviceOf(number: number, address: string | null, patience: Patience | undefined): string {
  if (number === publicAccessOff) {
    return (
      "Either run `npx taskgate migrate` inside the server's virtual network, for example on a runner there. " +
      "Or open one address for a short time: `azd env set SQL_CLIENT_IP ADDRESS`, `azd provision`, which migrates; then clear it and provision again (docs/operate/deploy.md)"
    );
  }
  if (number === firewall) {
    const shown = address ?? "ADDRESS";
    const byItself =
      patience?.admit === undefined
        ? "`--open-firewall RESOURCE_ID` opens it for as long as the migration lasts. "
        : "";
    return `${byItself}To open it for good: \`azd env set SQL_CLIENT_IP ${shown}\`, then \`azd provision\`; a change takes up to 5 minutes`;
  }
  if (number === loginFailed) {
    return "Sign in as the server's Entra administrator, or as a member of that group; AZURE_TOKEN_CREDENTIALS says which sign-in of this machine is used";
  }
  return patience === undefined
    ? "`npx taskgate migrate --wait 10m` repeats that"
    : "Try again later";
}
