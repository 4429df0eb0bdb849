import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";

/*
 * A review attacked a running instance. What it found, and what it tried in vain, each has a case that goes on trying it:
 * here is which. A case that is renamed or lost is missed here.
 */
const root = join(__dirname, "../..");

type Row = readonly [what: string, file: string, ...cases: string[]];

const http = "test/bad-input/http-cases.ts";
const queues = "test/bad-input/queue-cases.ts";
const lines = "test/bad-input/cli-cases.ts";
const gate = "test/local/request-gate.test.ts";

const findings: readonly Row[] = [
  ["1: a result that can't be stored", "test/poison/bad-outcomes.ts", "returns a Date", "afterMs"],
  [
    "2: a page of another origin, a rebound name",
    "test/local/strangers.test.ts",
    "under a name that was rebound to this machine",
  ],
  [
    "3: the embedded database lets in everybody",
    "test/local/embedded-postgres.test.ts",
    "a client without the password doesn't get in",
  ],
  ["4: a body of 16 MiB", http, '"16 MiB"', "7 unknown members each"],
  ["5: a missing right is 500", "test/functions/rights.test.ts", "403, naming the right"],
  [
    "6: a worker gone inside its transaction",
    "test/fault/half-dead/half-dead.test.ts",
    "gives token and task back within the lease and 5 s",
  ],
  [
    "7: PostgreSQL in the clear",
    "test/contract/tls.postgres.test.ts",
    "gets no login, and the error names sslrootcert and sslmode=disable",
  ],
  ["8: an unknown kind never ends", "test/contract/returns.contract.ts", "share"],
  ["8: an unknown kind is enqueued", "test/poison/unknown-kinds.test.ts", "with the near name"],
  ["9: changed numbers", http, '"1e309"', '"25 digits"', '"1e-400"', '"-0"'],
  [
    "10: one key for all, a public API",
    "test/functions/sign-in.test.ts",
    "a reader may call no route",
  ],
  ["11: values of settings are shown", "test/bad-input/secrets.test.ts", "TASKGATE_SMTP_PASSWORD"],
  [
    "12: acknowledged enqueues are lost",
    "test/fault/durability.test.ts",
    "no acknowledged enqueue",
  ],
  [
    "13: a full disk counts as failure",
    "test/contract/store-troubles.postgres.test.ts",
    "comes back uncounted",
  ],
  ["14: a forged caller", http, '"a forged caller"'],
  ["15: a hanging database", "test/unit/cli/silent-database.test.ts", "says so after 3 s"],
  [
    "15: a hanging database over HTTP",
    "test/functions/in-time.test.ts",
    "503 and retry-after within 5 s",
  ],
  ["16: the emulator's published key", "test/local/azurite.test.ts", "the published one"],
  [
    "17: install scripts",
    "test/static/supply-chain.test.ts",
    "a package's own scripts run neither",
  ],
  ["18: one bad event among good ones", "test/functions/messages.test.ts", "ingest"],
  [
    "19: a data folder that others made",
    "test/local/embedded-postgres.test.ts",
    "others may write",
  ],
  ["20: an address that can't be read", http, "an address that can't be read"],
  ["20: a home that can't be made", "test/local/embedded-postgres.test.ts", "can't be made"],
  ["20: an option before its command", lines, '["--db", `postgres', '["--json", "status"]'],
  ["20: a negative limit", lines, '["limit", "known", "-1"]'],
];

const attacks: readonly Row[] = [
  ["Host spoofed, text from another origin, a form, no body", gate, "every request of a stranger"],
  ["a preflight", http, '"OPTIONS"'],
  ["levels of JSON", http, '"30,000 levels"', '"a million opening brackets"'],
  ["bodies beyond the bound, told and untold", http, '"16 MiB"', "a body that is told as 101 MiB"],
  ["unknown members", http, '"100,000 unknown members"', "2 MiB + 1 of unknown members"],
  [
    "64 KiB + 1, 10,001 tasks, 10,000 tasks",
    http,
    '"64 KiB + 1"',
    '"10,001 tasks"',
    '"10,000 tasks"',
  ],
  ["bytes that are no text", http, '"invalid UTF-8"', '"a byte order mark"', '"gzip"'],
  ["NUL and a lone surrogate", http, '"U+0000 in a text"', '"a lone surrogate"'],
  [
    "__proto__ and constructor",
    http,
    '"__proto__ as data"',
    "executions?__proto__=1",
    "constructor=1",
  ],
  ["numbers out of range", http, '"2^53 + 1"', '"NaN"', '"priority 32768"', '"runInMs 1e18"'],
  ["dates that don't exist", http, '"30 February"', '"the year 0"'],
  ["limits that are none", http, '"1001"', '"1e309"', '"{}"'],
  ["`max` out of range", http, "executions?max=1&max=2", '"%00"'],
  ["SQL in names", http, "'%20or%201=1--", "drop%20table"],
  ["bidirectional signs, emoji, HTML, ANSI", http, "bidirectional signs", "an ANSI escape"],
  ["ids", http, '"9223372036854775808"', '"0x10"', '"%EF%BC%91"'],
  [
    "paths out of the folder",
    http,
    '"..%2fhost.json"',
    '"%252e%252e%252fhost.json"',
    '"/etc/passwd"',
  ],
  ["methods", http, '"TRACE"', '"PROPFIND"', '"QUERY"', '"CONNECT"'],
  ["a range", http, "a range of bytes"],
  [
    "requests that two parsers read differently",
    http,
    '"two lengths"',
    '"a length and chunks"',
    '"bare line feeds"',
    '"no host"',
  ],
  ["an address of 64 KiB", http, "an address of 64 KiB"],
  ["absolute and `//` targets", gate, "begins with two slashes"],
  ["the same operationId and dedupeKey again", "test/contract/enqueue.contract.ts", "dedupe"],
  [
    "hints",
    queues,
    '"null"',
    '"201 characters"',
    "hints: not base64",
    '"NUL in a name"',
    '"1e309 as a name"',
  ],
  ["events", queues, '"CloudEvents 2.0"', '"1,001 events"', '"an array as data"', '"no id"'],
  [
    "bad words and bad addresses on the command line",
    lines,
    '["stauts"]',
    "nonsense-",
    "/nowhere/at-all.json",
  ],
];

describe("what a review tried is still tried", () => {
  test.each([...findings, ...attacks])(
    "the tests still try what a review tried: %s",
    (_, file, ...cases) => {
      const text = readFileSync(join(root, file), "utf8");
      expect(cases.filter((one) => !text.includes(one))).toEqual([]);
    },
  );
});
