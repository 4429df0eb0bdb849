/**
 * Every SQLSTATE that says "the store can't now", or that an answer is in doubt. None of them is the fault of the
 * caller: calls are repeated or refused as temporary, tasks come back uncounted. docs/reference/errors.md is made of it.
 *
 * `unavailable`: refused or undone, nothing happened. `conflict`: undone, worth another try at once. `uncertain`: the
 * connection ended under the request, whose commit may have won the race.
 */
export type Trouble = "unavailable" | "conflict" | "uncertain";

interface TroubleRow {
  readonly state: string;
  readonly trouble: Trouble;
  readonly meaning: string;
}

/** The table, by state. */
export const postgresTroubles: readonly TroubleRow[] = [
  { state: "08000", trouble: "uncertain", meaning: "connection lost" },
  { state: "08001", trouble: "unavailable", meaning: "no connection could be made" },
  { state: "08003", trouble: "uncertain", meaning: "connection gone" },
  { state: "08004", trouble: "unavailable", meaning: "connection refused" },
  { state: "08006", trouble: "uncertain", meaning: "connection lost" },
  { state: "08007", trouble: "uncertain", meaning: "connection lost at a commit" },
  { state: "25006", trouble: "unavailable", meaning: "read-only: a standby, or a failover" },
  { state: "28000", trouble: "unavailable", meaning: "the login is refused" },
  { state: "28P01", trouble: "unavailable", meaning: "the password isn't this one (any more)" },
  { state: "3D000", trouble: "unavailable", meaning: "there is no such database (yet)" },
  { state: "40001", trouble: "conflict", meaning: "serialization failure" },
  { state: "40003", trouble: "uncertain", meaning: "what became of a statement isn't known" },
  { state: "40P01", trouble: "conflict", meaning: "deadlock" },
  { state: "53000", trouble: "unavailable", meaning: "short of resources" },
  { state: "53100", trouble: "unavailable", meaning: "disk full" },
  { state: "53200", trouble: "unavailable", meaning: "out of memory" },
  { state: "53300", trouble: "unavailable", meaning: "too many connections" },
  { state: "53400", trouble: "unavailable", meaning: "a limit of the configuration is reached" },
  { state: "55P03", trouble: "conflict", meaning: "a lock stays taken" },
  { state: "57014", trouble: "conflict", meaning: "statement cancelled, or out of its time" },
  { state: "57P01", trouble: "uncertain", meaning: "ended by an administrator, or shutting down" },
  { state: "57P02", trouble: "uncertain", meaning: "another backend crashed" },
  { state: "57P03", trouble: "unavailable", meaning: "starting up, shutting down or recovering" },
  { state: "57P05", trouble: "unavailable", meaning: "session was idle for too long" },
  { state: "58000", trouble: "unavailable", meaning: "error of the operating system" },
  { state: "58030", trouble: "unavailable", meaning: "the disk can't be read or written" },
];

const byState: ReadonlyMap<string, Trouble> = new Map(
  postgresTroubles.map(({ state, trouble }) => [state, trouble]),
);

/** What a SQLSTATE says of the store; undefined: it says something of the call. */
export function troubleOf(state: string): Trouble | undefined {
  return byState.get(state);
}
