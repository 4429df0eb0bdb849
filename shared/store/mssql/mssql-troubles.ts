/**
 * Every number of SQL Server and Azure SQL that says "the store can't now", or that an answer is in doubt. None of them is
 * the caller's fault: calls are repeated or refused as temporary, tasks come back uncounted.
 * docs/reference/errors.md is made of it.
 *
 * `unavailable`: refused or undone, nothing happened. `conflict`: undone, worth another try at once. `uncertain`: the
 * connection ended under the request, whose commit may have won the race.
 */
type Trouble = "unavailable" | "conflict" | "uncertain";

interface TroubleRow {
  readonly numbers: readonly number[];
  readonly trouble: Trouble;
  readonly meaning: string;
}

/** The table. */
export const mssqlTroubles: readonly TroubleRow[] = [
  { numbers: [1205, 50425], trouble: "conflict", meaning: "deadlock, of rows or of keys" },
  { numbers: [1222, 50423], trouble: "conflict", meaning: "a lock stays taken" },
  { numbers: [3960, 3961, 41302], trouble: "conflict", meaning: "another version was written" },
  {
    numbers: [601, 617, 669, 1203, 1221, 10922],
    trouble: "conflict",
    meaning: "a page, a row or a descriptor changed under the statement",
  },
  { numbers: [701, 802, 1204, 8645, 8651], trouble: "unavailable", meaning: "out of memory" },
  {
    numbers: [1101, 1105, 1132, 9002],
    trouble: "unavailable",
    meaning: "disk, file, log or elastic pool full",
  },
  {
    // tempdb is full: a version wasn't kept, or was given up for another one. Both undo the transaction.
    numbers: [3958, 3966],
    trouble: "unavailable",
    meaning: "a row's version is gone, as tempdb is full",
  },
  {
    numbers: [845, 8628],
    trouble: "unavailable",
    meaning: "no page, or no plan, in time: disk or memory is short",
  },
  {
    numbers: [40544, 40549, 40550, 40551, 40552, 40553],
    trouble: "unavailable",
    meaning: "a quota of Azure SQL is used up",
  },
  {
    numbers: [921, 3906, 3908, 976, 983],
    trouble: "unavailable",
    meaning: "read-only, recovering, or a secondary",
  },
  {
    numbers: [10928, 10929, 10936],
    trouble: "unavailable",
    meaning: "too many workers or sessions",
  },
  {
    numbers: [40501, 40642, 40648, 40675, 49918, 49919, 49920],
    trouble: "unavailable",
    meaning: "throttled",
  },
  { numbers: [42108, 42109], trouble: "unavailable", meaning: "paused, or waking up" },
  {
    numbers: [40020, 40143, 40166, 40197, 40540, 40611, 40612, 40613, 40614],
    trouble: "uncertain",
    meaning: "failover or reconfiguration",
  },
  {
    numbers: [596, 615, 926, 4221, 6005, 9001],
    trouble: "uncertain",
    meaning: "session killed, shutdown, log or database away",
  },
  {
    numbers: [64, 121, 233, 10053, 10054, 10060],
    trouble: "uncertain",
    meaning: "connection lost",
  },
];

/** Numbers of one sort. */
export function numbersOf(trouble: Trouble): ReadonlySet<number> {
  return new Set(
    mssqlTroubles.filter((row) => row.trouble === trouble).flatMap(({ numbers }) => numbers),
  );
}
