import type { BadCall } from "./bad-sql-calls";

const unknownName = { number: 50404, says: "name: unknown definition (x)" } as const;
const at = "'2026-01-31T08:30:00Z'";

/** A list with one schedule of which one member is otherwise; undefined: it is left out. */
function oneWith(changes: Readonly<Record<string, string | number | undefined>>): string {
  const good = { name: "s", kind: "k", cron: "* * * * *", timeZone: "UTC", missed: "once" };
  return JSON.stringify([{ ...good, ...changes }]).replaceAll("'", "''");
}

function badEntry(changes: Parameters<typeof oneWith>[0], says: string): BadCall {
  return {
    title: `SetSchedules with ${JSON.stringify(changes).slice(0, 60)}`,
    call: `SetSchedules N'demo', 1, N'${oneWith(changes)}', N'me'`,
    number: 50422,
    says: `schedules[0].${says}`,
  };
}

const blanks = "expected 1..200 characters without blanks at either end";

/** Calls of procedures for schedules in plain T-SQL, each bad in one way. */
export const badScheduleCalls: readonly BadCall[] = [
  ...(["name", "kind"] as const).flatMap((field) => [
    badEntry({ [field]: undefined }, `${field}: ${blanks} (<NULL>)`),
    badEntry({ [field]: "" }, `${field}: ${blanks} ()`),
    badEntry({ [field]: "5% " }, `${field}: ${blanks} (5% )`),
    badEntry({ [field]: " s" }, `${field}: ${blanks} ( s)`),
    badEntry({ [field]: "x".repeat(201) }, `${field}: ${blanks} (${"x".repeat(201)})`),
  ]),
  // Of two faults the list's is told.
  {
    call: `SetSchedules N'x', 1, N'${oneWith({ group: " " })}', N'me'`,
    number: 50422,
    says: `schedules[0].group: ${blanks} ( )`,
  },
  badEntry({ group: "" }, `group: ${blanks} ()`),
  badEntry({ group: "g " }, `group: ${blanks} (g )`),
  badEntry({ cron: undefined }, "cron: expected 1..200 characters (<NULL>)"),
  badEntry({ cron: "" }, "cron: expected 1..200 characters ()"),
  badEntry({ cron: "*".repeat(201) }, `cron: expected 1..200 characters (${"*".repeat(201)})`),
  badEntry({ timeZone: undefined }, "timeZone: expected 1..100 characters (<NULL>)"),
  badEntry({ timeZone: "" }, "timeZone: expected 1..100 characters ()"),
  badEntry(
    { timeZone: "x".repeat(101) },
    `timeZone: expected 1..100 characters (${"x".repeat(101)})`,
  ),
  badEntry({ missed: undefined }, "missed: expected skip, once or all (<NULL>)"),
  ...["ALL", "all ", "5%"].map((missed) =>
    badEntry({ missed }, `missed: expected skip, once or all (${missed})`),
  ),
  ...["[1]", "{", "{x}", "x", "", ' {"a":1}', '{"a":1} '].map((payload) =>
    badEntry({ payload }, `payload: expected the text of a JSON object (${payload})`),
  ),
  ...['{"scheduledFor":null}', '{"a":"5%","schedule\\u0064For":[1]}'].map((payload) =>
    badEntry(
      { payload },
      `payload: expected an object without scheduledFor, which each instant adds (${payload})`,
    ),
  ),
  ...["tomorrow", "", "5%"].map((nextRunAt) =>
    badEntry({ nextRunAt }, `nextRunAt: expected an ISO-8601 instant with its zone (${nextRunAt})`),
  ),
  ...[
    ["NULL", "<NULL>"],
    ["N''", ""],
    ["N'{}'", "{}"],
    ["N'[1]'", "[1]"],
    ["N'5%'", "5%"],
  ].map(([list = "", shown = ""]) => ({
    call: `SetSchedules N'demo', 1, ${list}, N'me'`,
    number: 50422,
    says: `schedules: expected a JSON array of objects (${shown})`,
  })),
  {
    call: `SetSchedules N'demo', 1, N'${oneWith({}).slice(0, -1)},${oneWith({}).slice(1)}', N'me'`,
    number: 50422,
    says: "schedules[1].name: expected each name once (s)",
  },
  { call: "SetSchedules N'x', 1, N'[]', N'me'", ...unknownName },
  {
    call: "SetSchedules N'demo ', 1, N'[]', N'me'",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  {
    call: "SetSchedules NULL, 1, N'[]', N'me'",
    number: 50404,
    says: "name: unknown definition (<NULL>)",
  },
  { call: "SetSchedulePaused N'x', N's', 1, NULL, N'me'", ...unknownName },
  {
    call: "SetSchedulePaused NULL, N's', 1, NULL, N'me'",
    number: 50404,
    says: "name: unknown definition (<NULL>)",
  },
  ...[
    ["N's'", "s"],
    ["NULL", "<NULL>"],
    ["N'5%'", "5%"],
    ["N's '", "s "],
  ].map(([schedule = "", shown = ""]) => ({
    call: `SetSchedulePaused N'demo', ${schedule}, 1, NULL, N'me'`,
    number: 50404,
    says: `schedule: unknown (${shown})`,
  })),
  {
    call: "SetSchedulePaused N'demo', N's', NULL, NULL, N'me'",
    number: 50422,
    says: "paused: expected true or false (<NULL>)",
  },
  ...["tomorrow", "", "5%"].map((instant) => ({
    call: `SetSchedulePaused N'demo', N's', 0, N'${instant}', N'me'`,
    number: 50422,
    says: `next_run_at: expected an ISO-8601 instant with its zone (${instant})`,
  })),
  ...[
    ["NULL", "<NULL>"],
    ["N''", ""],
    ["N'5%'", "5%"],
  ].map(([instant = "", shown = ""]) => ({
    call: `FireSchedule 1, ${instant}, N'[]', NULL`,
    number: 50422,
    says: `expected_run_at: expected an ISO-8601 instant with its zone (${shown})`,
  })),
  ...["NULL", "N''", "N'{}'", "N'1'", `N'[${"1,".repeat(100)}1]'`].map((list) => ({
    call: `FireSchedule 1, ${at}, ${list}, NULL`,
    number: 50422,
    says: "run_ats: expected a JSON array of 0..100 instants",
  })),
  ...["tomorrow", "5%", "2026-01-31T08:30:00Z", "2026-01-31T08:29:59Z"].map((instant) => ({
    call: `FireSchedule 1, ${at}, N'[]', N'${instant}'`,
    number: 50422,
    says: `next_run_at: expected an ISO-8601 instant with its zone after the others (${instant})`,
  })),
  ...[
    ["NULL", "<NULL>"],
    ["0", "0"],
    ["1001", "1001"],
  ].map(([max = "", shown = ""]) => ({
    call: `ListSchedules NULL, ${max}`,
    number: 50422,
    says: `max: expected 1..1000 (${shown})`,
  })),
  { call: "ListSchedules N'x', 1", ...unknownName },
  {
    call: "ListSchedules N'demo ', 1",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
];
