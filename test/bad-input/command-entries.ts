import { commands } from "../../shared/cli/commands";

/** The commands with a good command line and bad ones. The test fails when a command, or an option with a value, isn't in here. */

/** A command of the CLI: a good command line, and bad words in place of it. */
export interface CliEntry {
  /** A value for every parameter. */
  readonly args: readonly string[];
  /** It takes any number of arguments: the field that is named when one more can't be used. */
  readonly listField?: string;
  /** It works without a database. */
  readonly isOffline?: true;
  /** Command lines behind the name, each bad, with the field that the error names. */
  readonly bad: readonly { readonly words: readonly string[]; readonly field: string }[];
}

const badNames = ["", " a", "a ", "x".repeat(201)].map((word) => ({
  words: [word],
  field: "definition",
}));
const badMax = ["0", "1001", "many", "1.5", ""].map((word) => ({
  words: ["--max", word],
  field: "max",
}));
/** Of each command that takes the options of `taskFilters`. */
const badTaskFilters: CliEntry["bad"] = [
  { words: ["--key", " k"], field: "key" },
  { words: ["--key-prefix", ""], field: "--key-prefix" },
  { words: ["--group", "g "], field: "group" },
  { words: ["--batch", "abc"], field: "batch" },
  { words: ["--since", "soon"], field: "--since" },
  { words: ["--before", "2030-02-30T08:30:00Z"], field: "--before" },
  { words: ["--where", "customer"], field: "where" },
];
/** Of each command that lists tasks by them, finished ones too. */
const badListFilters: CliEntry["bad"] = [
  ...badTaskFilters,
  { words: ["--ended-since", "1y"], field: "--ended-since" },
  { words: ["--ended-before", "tomorrow"], field: "--ended-before" },
  { words: ["--error", ""], field: "--error" },
];
/** Of each command that changes all tasks of a definition; `before` stands before its name. */
function badFilters(before: readonly string[]): CliEntry["bad"][number][] {
  const all = [...before, "known", "--all"];
  return [
    { words: [...before, "known", "other", "--all"], field: "argument" },
    { words: [...before, "unknown", "--all"], field: "definition" },
    { words: [...before, "1", "--kind", "a"], field: "--kind" },
    { words: [...before, "1", "--dry-run"], field: "--dry-run" },
    { words: [...before, "1", "--since", "1h"], field: "--since" },
    { words: [...before, "1", "--error", "x"], field: "--error" },
    { words: [...all, "--error", ""], field: "--error" },
    { words: [...all, "--kind", " a"], field: "kind" },
    ...badTaskFilters.map(({ words, field }) => ({ words: [...all, ...words], field })),
  ];
}

const badIds = ["abc", "1.5", "9223372036854775808", ""].map((word) => ({
  words: [word],
  field: "task",
}));
const longReason = { words: ["known", "--reason", "x".repeat(401)], field: "reason" };

function behind(name: string, bad: CliEntry["bad"]): CliEntry["bad"] {
  return bad.map(({ words, field }) => ({ words: [name, ...words], field }));
}

/** By name of the command, without what all commands that look have. */
const ownEntries: Readonly<Record<string, CliEntry>> = {
  status: { args: [], bad: [] },
  definitions: {
    args: ["known"],
    bad: [...badNames, { words: ["unknown"], field: "definition" }],
  },
  top: { args: ["known"], bad: [...badNames, { words: ["unknown"], field: "definition" }] },
  statistics: {
    args: ["known"],
    bad: [...badNames, { words: ["known", "--window", "year"], field: "window" }],
  },
  failures: {
    args: ["known"],
    bad: [
      ...badMax,
      ...badNames,
      { words: ["unknown"], field: "definition" },
      { words: ["--batch", "x"], field: "batch" },
      { words: ["unknown", "--batch", "1"], field: "definition" },
    ],
  },
  stop: {
    args: [],
    bad: [
      { words: [], field: "--all" },
      { words: ["--all", "--reason", "x".repeat(401)], field: "reason" },
    ],
  },
  executions: { args: ["known"], bad: [...badMax, ...badNames] },
  tasks: {
    args: ["known"],
    bad: [
      ...badNames,
      ...behind("known", badMax),
      { words: ["known", "--state", "blocked"], field: "state" },
      { words: ["known", "--oldest", "--state", "dead"], field: "--oldest" },
      { words: ["known", "--oldest", "--key", "k"], field: "--oldest" },
      { words: ["known", "--all"], field: "--all" },
      ...behind("known", badListFilters),
      { words: ["known", "--oldest", "--error", "x"], field: "--oldest" },
    ],
  },
  export: {
    args: ["known"],
    bad: [
      ...badNames,
      ...["0", "many", "1.5", ""].map((word) => ({
        words: ["known", "--max", word],
        field: "--max",
      })),
      { words: ["known", "--state", "ready", "--state", "blocked"], field: "state" },
      { words: ["known", "--to", "/"], field: "--to" },
      ...behind("known", badListFilters),
      { words: ["unknown"], field: "definition" },
    ],
  },
  explain: {
    args: ["1"],
    bad: ["abc", "1.5", "9223372036854775808", ""].map((word) => ({
      words: [word],
      field: "task",
    })),
  },
  enqueue: {
    args: ["known"],
    bad: [
      ...badNames,
      { words: ["known", "--payload", "{"], field: "--payload" },
      { words: ["known", "--payload", "5"], field: "tasks[0].payload" },
      { words: ["known", "--payload", "{}", "--file", "x"], field: "--file" },
      { words: ["known", "--file", "/nowhere/at-all.json"], field: "--file" },
      { words: ["known", "--priority", "x"], field: "tasks[0].priority" },
      { words: ["known", "--priority", "40000"], field: "tasks[0].priority" },
      { words: ["known", "--group", ""], field: "tasks[0].group" },
      { words: ["known", "--kind", "x".repeat(201)], field: "tasks[0].kind" },
      { words: ["known", "--run-in", "soon"], field: "--run-in" },
      { words: ["known", "--run-in", "36501d"], field: "--run-in" },
      { words: ["known", "--run-in", "1h", "--run-at", "2030-01-31T08:30:00Z"], field: "--run-at" },
      { words: ["known", "--run-at", "2030-02-30T08:30:00Z"], field: "tasks[0].runAt" },
      { words: ["known", "--dedupe-key", " a"], field: "tasks[0].dedupeKey" },
      { words: ["known", "--from", "/nowhere/at-all.csv"], field: "--from" },
      { words: ["known", "--from", "/"], field: "--from" },
      { words: ["known", "--from", "x", "--payload", "{}"], field: "--payload" },
      { words: ["known", "--from", "x", "--file", "y"], field: "--file" },
      { words: ["known", "--from", "x", "--dedupe-key", "k"], field: "--dedupe-key" },
      { words: ["known", "--from", "x", "--format", "xml"], field: "--format" },
      { words: ["known", "--from", "x", "--typed"], field: "--typed" },
      { words: ["known", "--from", "x", "--replace"], field: "--replace" },
      { words: ["known", "--from", "x", "--key-field", "a..b"], field: "--key-field" },
      { words: ["known", "--from", "x.csv", "--key", "a.b"], field: "--key-field" },
      { words: ["known", "--from", "x", "--key-for", "1d"], field: "--key-for" },
      {
        words: ["known", "--from", "x", "--key-field", "a", "--key-for", "366d"],
        field: "--key-for",
      },
      { words: ["known", "--from", "x", "--after-line", "1.5"], field: "--after-line" },
      { words: ["known", "--from", "x", "--priority", "x"], field: "tasks[0].priority" },
      ...["format", "key-field", "key-for", "after-line"].map((option) => ({
        words: ["known", `--${option}`, "1"],
        field: `--${option}`,
      })),
      { words: ["known", "--typed"], field: "--typed" },
    ],
  },
  limits: { args: ["known"], bad: [...badMax, { words: [" a"], field: "name" }] },
  limit: {
    args: ["known", "1"],
    bad: [
      ...badNames.map(({ words, field }) => ({ words: [...words, "1"], field })),
      ...["1001", "1.5", "null", "", "one", "99999999999999999999"].map((word) => ({
        words: ["known", word],
        field: "limit",
      })),
      { words: ["known", "1", "--reason", "x".repeat(401)], field: "reason" },
      { words: ["known", "--reason", "why"], field: "--reason" },
      { words: ["unknown"], field: "definition" },
    ],
  },
  rate: {
    args: ["known", "5/s"],
    bad: [
      ...badNames.map(({ words, field }) => ({ words: [...words, "5/s"], field })),
      ...["fast", "5", "5/week", ""].map((word) => ({ words: ["known", word], field: "rate" })),
      { words: ["known", "5/s", "--burst", "6"], field: "burst" },
      { words: ["known", "none", "--burst", "1"], field: "--burst" },
      { words: ["known", "5/s", "--reason", "x".repeat(401)], field: "reason" },
      { words: ["known", "--burst", "1"], field: "--burst" },
      { words: ["unknown"], field: "definition" },
    ],
  },
  owner: {
    args: ["known", "billing"],
    bad: [
      ...badNames.map(({ words, field }) => ({ words: [...words, "billing"], field })),
      ...["", " billing", "x".repeat(201)].map((word) => ({
        words: ["known", word],
        field: "app",
      })),
      { words: ["known", "billing", "--reason", "x".repeat(401)], field: "reason" },
      { words: ["known", "--reason", "why"], field: "--reason" },
      { words: ["known", "billing", "--release"], field: "APP" },
      { words: ["unknown"], field: "definition" },
    ],
  },
  pause: { args: ["known"], bad: [...badNames, longReason] },
  resume: {
    args: ["known"],
    bad: [
      ...badNames,
      longReason,
      { words: [], field: "NAME" },
      { words: ["known", "--all"], field: "NAME" },
    ],
  },
  cancel: {
    args: ["1"],
    listField: "ID|NAME..",
    bad: [
      ...badIds.map(({ words }) => ({ words, field: "ID|NAME.." })),
      ...badFilters([]),
      { words: ["known", "--all", "--state", "dead"], field: "--state" },
      { words: ["known", "--all", "--state", "blocked"], field: "--state" },
      { words: ["1", "--reason", "x".repeat(401)], field: "reason" },
    ],
  },
  replay: {
    args: ["ingest"],
    bad: [
      { words: ["poison"], field: "QUEUE" },
      ...["0", "100001", "many", "1.5", ""].map((word) => ({
        words: ["hints", "--max", word],
        field: "max",
      })),
    ],
  },
  redrive: {
    args: ["1"],
    listField: "ID|NAME..",
    bad: [
      ...badIds.map(({ words }) => ({ words, field: "ID|NAME.." })),
      { words: ["1", "known"], field: "ID|NAME.." },
      ...badFilters([]),
      { words: ["known", "--all", "--ended-since", "1y"], field: "--ended-since" },
      { words: ["known", "--all", "--ended-before", "tomorrow"], field: "--ended-before" },
      { words: ["1", "--outcome", "dead"], field: "--outcome" },
      { words: ["1", "--like", "refused"], field: "--like" },
      {
        words: ["known", "--all", "--like", "x", "--outcome", "cancelled"],
        field: "--outcome",
      },
      { words: ["1", "--max", "5"], field: "--max" },
      { words: ["1", "--reason", ""], field: "reason" },
      { words: ["known", "--all", "--outcome", "done"], field: "--outcome" },
      ...["0", "1000001", "many"].map((word) => ({
        words: ["known", "--all", "--max", word],
        field: "--max",
      })),
    ],
  },
  reschedule: {
    args: ["now", "1"],
    listField: "ID|NAME..",
    bad: [
      ...behind(
        "now",
        badIds.map(({ words }) => ({ words, field: "ID|NAME.." })),
      ),
      ...badFilters(["now"]),
      { words: ["now", "known", "--all", "--state", "claimed"], field: "--state" },
      { words: ["2026-02-30T08:30:00Z", "1"], field: "runAt" },
      { words: ["now", "1", "--reason", ""], field: "reason" },
      ...["tomorrow", "soon", "600000", "36501d"].map((word) => ({
        words: [word, "1"],
        field: "WHEN",
      })),
    ],
  },
  groups: {
    args: ["known"],
    bad: [
      ...badMax,
      { words: ["unknown"], field: "definition" },
      { words: ["--key", " a"], field: "key" },
    ],
  },
  group: {
    args: ["known", "g"],
    bad: [
      ...badNames.map(({ words, field }) => ({ words: [...words, "g"], field })),
      { words: ["known", " g"], field: "key" },
      ...["0", "1001", "many"].map((word) => ({
        words: ["known", "g", "--slots", word],
        field: "slots",
      })),
      { words: ["known", "g", "--pause", "--resume"], field: "--resume" },
      { words: ["known", "g", "--strict", "--not-strict"], field: "--not-strict" },
      { words: ["known", "g", "--reason", "x".repeat(401)], field: "reason" },
    ],
  },
  schedules: {
    args: ["known"],
    bad: [...badMax, { words: ["unknown"], field: "definition" }],
  },
  schedule: {
    args: ["known", "nightly"],
    bad: [
      ...badNames.map(({ words, field }) => ({ words: [...words, "nightly", "--pause"], field })),
      { words: ["known", " g", "--pause"], field: "schedule" },
      { words: ["known", "unknown", "--resume"], field: "schedule" },
      { words: ["known", "unknown"], field: "schedule" },
      { words: ["known", "nightly", "--pause", "--resume"], field: "--resume" },
      { words: ["known", "nightly", "--pause", "--reason", "x".repeat(401)], field: "reason" },
      { words: ["known"], field: "schedule" },
      { words: ["known", " g", "--run"], field: "schedule" },
      { words: ["known", "unknown", "--run"], field: "schedule" },
      { words: ["known", "nightly", "--run", "--pause"], field: "--run" },
      {
        words: ["known", "nightly", "--run", "--for", "2030-02-30T08:30:00Z"],
        field: "--for",
      },
      { words: ["known", "nightly", "--for", "2030-01-31T08:30:00Z"], field: "--for" },
      { words: ["known", "nightly", "--run", "--reason", "x".repeat(401)], field: "reason" },
    ],
  },
  watermarks: {
    args: ["known"],
    bad: [
      ...badMax,
      { words: ["unknown"], field: "definition" },
      { words: ["--watermark", " a"], field: "watermark" },
    ],
  },
  watermark: {
    args: ["known", "w"],
    bad: [
      ...badNames.map(({ words, field }) => ({ words: [...words, "w", "--clear"], field })),
      ...badNames.map(({ words, field }) => ({ words: [...words, "w"], field })),
      { words: ["known", " w", "--clear"], field: "watermark" },
      { words: ["known", "w", "--set", "{}", "--clear"], field: "--clear" },
      ...["null", "7", '"x"', "{", ""].map((word) => ({
        words: ["known", "w", "--set", word],
        field: "value",
      })),
      ...["many", "1.5", "9223372036854775808"].map((word) => ({
        words: ["known", "w", "--clear", "--from-version", word],
        field: "version",
      })),
      { words: ["known", "w", "--clear", "--reason", "x".repeat(401)], field: "reason" },
    ],
  },
  work: {
    args: ["known"],
    // Whether the app has them is known when it is loaded; a folder without an app is refused before.
    listField: "--app",
    bad: [
      ...badNames,
      ...["", ",", "known,", " a"].map((word) => ({
        words: ["--definitions", word],
        field: "--definitions",
      })),
      ...["0", "1001", "1.5", "x", ""].map((word) => ({
        words: ["--concurrency", word],
        field: "--concurrency",
      })),
      ...["soon", "50ms", "11m", ""].map((word) => ({ words: ["--poll", word], field: "--poll" })),
      ...["soon", "2h", "0s"].map((word) => ({ words: ["--grace", word], field: "--grace" })),
    ],
  },
  batches: {
    args: [],
    bad: [
      ...["0", "101", "many", "1.5", ""].map((word) => ({
        words: ["--max", word],
        field: "max",
      })),
      { words: ["--before", "abc"], field: "before" },
    ],
  },
  audit: {
    args: ["known"],
    bad: [
      ...["0", "101", "many", "1.5", ""].map((word) => ({
        words: ["--max", word],
        field: "max",
      })),
      { words: [" a"], field: "object" },
      { words: ["known", "--batch", "1"], field: "--batch" },
      { words: ["--batch", "first"], field: "batch" },
      { words: ["--action", "limit"], field: "action" },
      { words: ["--actor", ""], field: "actor" },
      { words: ["--since", "7days"], field: "since" },
      { words: ["--before", "1h"], field: "before" },
    ],
  },
  batch: {
    args: ["1"],
    bad: [
      ...["abc", "1.5", "9223372036854775808", ""].map((word) => ({
        words: [word],
        field: "batch",
      })),
      { words: ["1", "--resume", "--cancel"], field: "--cancel" },
      { words: ["1", "--cancel", "--reason", ""], field: "reason" },
      { words: ["1", "--follow", "--resume"], field: "--resume" },
      { words: ["1", "--cancel", "--every", "1s"], field: "--cancel" },
    ],
  },
  doctor: { args: [], bad: [] },
  completion: { args: ["bash"], bad: [{ words: ["fish"], field: "SHELL" }], isOffline: true },
  version: { args: [], bad: [], isOffline: true },
  dev: {
    args: [],
    bad: [
      { words: ["--port", "65536"], field: "--port" },
      { words: ["--hosts", "9"], field: "--hosts" },
      { words: ["--limit", "1001"], field: "--limit" },
    ],
    isOffline: true,
  },
  init: {
    args: [],
    bad: [{ words: ["--template", "other"], field: "--template" }],
    isOffline: true,
  },
  eject: { args: [], bad: [{ words: ["--name", "Billing"], field: "--name" }], isOffline: true },
  stamp: { args: [], bad: [], isOffline: true },
  migrate: {
    args: [],
    bad: [
      ...[
        "nobody",
        "a:b",
        ":01234567-89ab-cdef-0123-456789abcdef",
        // Well-formed, but PostgreSQL has no such users.
        "a:01234567-89ab-cdef-0123-456789abcdef",
      ].map((word) => ({ words: ["--grant", word], field: "--grant" })),
      // Well-formed, but nothing of PostgreSQL passes by itself.
      ...["soon", "10", "25h", "10m"].map((word) => ({ words: ["--wait", word], field: "--wait" })),
      ...["sql-1", "/subscriptions/s/resourceGroups/g"].map((word) => ({
        words: ["--open-firewall", word],
        field: "--open-firewall",
      })),
      { words: ["--role", "TaskgateOperator"], field: "--role" },
      { words: ["--check", "--wait", "10m"], field: "--wait" },
    ],
  },
};

/** By name of the command. */
export const cliEntries: Readonly<Record<string, CliEntry>> = Object.fromEntries(
  Object.entries(ownEntries).map(([name, entry]) => {
    const isWatchable = commands.some((one) => one.name === name && "every" in one.options);
    const every = { words: [...entry.args, "--every", "soon"], field: "--every" };
    return [name, isWatchable ? { ...entry, bad: [...entry.bad, every] } : entry];
  }),
);
