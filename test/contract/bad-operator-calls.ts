import { badBatchCalls } from "./bad-batch-calls";
import { badScheduleCalls } from "./bad-schedule-calls";
import { someId } from "./bad-sql-calls";
import type { BadCall } from "./bad-sql-calls";

const unknownName = { number: 50404, says: "name: unknown definition (x)" } as const;
const notIds = { number: 50422, says: "task_ids: expected a JSON array of 1..1000 ids" } as const;
const states = "ready, scheduled, waiting, claimed, done, dead or cancelled";
const thousandAndOne = "N'[' + REPLICATE(CONVERT(nvarchar(max), N'1,'), 1000) + N'1]'";

/** Calls of operators' procedures in plain T-SQL, each bad in one way. */
export const badOperatorCalls: readonly BadCall[] = [
  ...(
    [
      ["5, NULL, 1", "rate_period_ms: expected 1000..86400000 (null)"],
      ["5, 1000, NULL", "rate_burst: expected 1..rate_count (null)"],
      ["NULL, 1000, NULL", "rate_period_ms: expected null without a rate (1000)"],
      ["NULL, NULL, 1", "rate_burst: expected null without a rate (1)"],
      ["-1, 1000, 1", "rate_period_ms: expected null without a rate (1000)"],
      ["-1, NULL, 1", "rate_burst: expected null without a rate (1)"],
    ] as const
  ).map(([rate, says]) => ({ call: `SetRate N'demo', ${rate}, N'me'`, number: 50422, says })),
  ...["CancelTasks", "RedriveTasks"].flatMap((name) =>
    ["N''", "N'{}'", "N'[]'", `N'["x"]'`, "N'[1,null]'", "N'1'"].map((ids) => ({
      call: `${name} ${ids}`,
      ...notIds,
    })),
  ),
  { call: "CancelTasks NULL", ...notIds },
  // Of two faults the first argument's is told.
  { call: "RedriveTasks N'[]', N'demo'", ...notIds },
  { call: "RescheduleTasks N'[]', NULL, NULL", ...notIds },
  {
    call: "RescheduleTasks N'[1]', -1, N'2026-01-31T08:30:00Z'",
    number: 50422,
    says: "run_at: expected either run_at or run_in_ms",
  },
  { call: "RescheduleTasks N'[]', 1, NULL", ...notIds },
  { call: "RescheduleTasks N'{\"a\":1}', 1, NULL", ...notIds },
  { call: "RescheduleTasks N'[\"x\"]', 1, NULL", ...notIds },
  ...["NULL, NULL", "1, N'2026-01-31T08:30:00Z'"].map((when) => ({
    call: `RescheduleTasks N'[1]', ${when}`,
    number: 50422,
    says: "run_at: expected either run_at or run_in_ms",
  })),
  ...["-1", "3153600000001", "9223372036854775807"].map((ms) => ({
    call: `RescheduleTasks N'[1]', ${ms}, NULL`,
    number: 50422,
    says: `run_in_ms: expected 0..3153600000000 (${ms})`,
  })),
  ...["tomorrow", "", "5%"].map((at) => ({
    call: `RescheduleTasks N'[1]', NULL, N'${at}'`,
    number: 50422,
    says: `run_at: expected an ISO-8601 instant with its zone (${at})`,
  })),
  {
    call: "RedriveTasks N'[1]', N'demo'",
    number: 50422,
    says: "name: expected either task_ids or a filter, not both",
  },
  ...[
    ["NULL", "<NULL>"],
    ["0", "0"],
    ["1001", "1001"],
  ].map(([max = "", shown = ""]) => ({
    call: `RedriveTasks NULL, N'demo', NULL, NULL, ${max}`,
    number: 50422,
    says: `max: expected 1..1000 (${shown})`,
  })),
  ...["done", "DEAD", "dead "].map((outcome) => ({
    call: `RedriveTasks NULL, N'demo', NULL, N'${outcome}', 1`,
    number: 50422,
    says: `outcome: expected dead or cancelled (${outcome})`,
  })),
  { call: "RedriveTasks NULL, N'x', NULL, NULL, 1", ...unknownName },
  {
    call: "RedriveTasks NULL, N'demo ', NULL, NULL, 1",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  {
    call: "RedriveTasks NULL, NULL, NULL, NULL, 1",
    number: 50404,
    says: "name: unknown definition (<NULL>)",
  },
  ...[
    ["NULL", "<NULL>"],
    ["N''", ""],
    ["N' g'", " g"],
    ["N'5% '", "5% "],
    [`N'${"x".repeat(201)}'`, "x".repeat(201)],
  ].map(([key = "", shown = ""]) => ({
    call: `SetGroup N'demo', ${key}, NULL, 1, NULL, NULL, N'me'`,
    number: 50422,
    says: `group_key: expected 1..200 characters without blanks at either end (${shown})`,
  })),
  ...["all", "GLOBAL", "global ", "5%"].map((scope) => ({
    call: `SetGroup N'demo', N'g', N'${scope}', 1, NULL, NULL, N'me'`,
    number: 50422,
    says: `group_scope: expected definition or global (${scope})`,
  })),
  ...["0", "1001"].map((slots) => ({
    call: `SetGroup N'demo', N'g', NULL, ${slots}, NULL, NULL, N'me'`,
    number: 50422,
    says: `slots: expected 1..1000 (${slots})`,
  })),
  // Of several faults the auditor's is told, then the first argument's.
  {
    call: `SetGroup N'x', N'', N'all', 0, NULL, NULL, N'${"w".repeat(201)}'`,
    number: 50422,
    says: `changed_by: expected at most 200 characters (${"w".repeat(201)})`,
  },
  {
    call: "SetGroup N'x', N'', N'all', 0, NULL, NULL, N'me'",
    number: 50422,
    says: "group_key: expected 1..200 characters without blanks at either end ()",
  },
  { call: "SetGroup N'x', N'g', NULL, 1, NULL, NULL, N'me'", ...unknownName },
  {
    call: "SetGroup N'demo ', N'g', NULL, 1, NULL, NULL, N'me'",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  {
    call: "SetGroup NULL, N'g', NULL, 1, NULL, NULL, N'me'",
    number: 50404,
    says: "name: unknown definition (<NULL>)",
  },
  ...[
    ["NULL", "<NULL>"],
    ["5", "5"],
    ["0", "0"],
  ].map(([grain = "", shown = ""]) => ({
    call: `ReadStatistics N'demo', ${grain}, 1`,
    number: 50422,
    says: `grain: expected 1, 10 or 60 (${shown})`,
  })),
  ...[
    ["N'demo'", "721", "720"],
    ["NULL", "13", "12"],
    // Of two faults the later argument's is told, as the name has to be looked for.
    ["N'x'", "0", "720"],
  ].map(([name = "", max = "", most = ""]) => ({
    call: `ReadStatistics ${name}, 1, ${max}`,
    number: 50422,
    says: `max: expected 1..${most} (${max})`,
  })),
  { call: "ReadStatistics N'x', 1, 1", ...unknownName },
  ...badBatchCalls,
  ...badScheduleCalls,
  ...twoFaults(),
  ...[
    ["NULL", "<NULL>"],
    ["0", "0"],
    ["1001", "1001"],
  ].map(([max = "", shown = ""]) => ({
    call: `ListGroups NULL, NULL, ${max}`,
    number: 50422,
    says: `max: expected 1..1000 (${shown})`,
  })),
  ...[
    ["NULL", "<NULL>"],
    ["0", "0"],
    ["1001", "1001"],
  ].map(([max = "", shown = ""]) => ({
    call: `ListSharedLimits NULL, ${max}`,
    number: 50422,
    says: `max: expected 1..1000 (${shown})`,
  })),
  ...[
    ["NULL", "<NULL>"],
    ["0", "0"],
    ["101", "101"],
  ].map(([max = "", shown = ""]) => ({
    call: `ListAudit NULL, NULL, NULL, NULL, NULL, ${max}`,
    number: 50422,
    says: `max: expected 1..100 (${shown})`,
  })),
  ...[
    ["since", "N'5%', N'tomorrow', 1", "5%"],
    ["before", "NULL, N'tomorrow', 1", "tomorrow"],
  ].map(([what = "", rest = "", shown = ""]) => ({
    call: `ListAudit NULL, NULL, NULL, ${rest}`,
    number: 50422,
    says: `${what}: expected an ISO-8601 instant with its zone (${shown})`,
  })),
  ...badAppCalls(),
  { call: "ListGroups N'x', NULL, 1", ...unknownName },
  ...badWatermarkCalls(),
  {
    call: "ListGroups N'demo ', NULL, 1",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
];

/** Calls with a value that is too long: `@v`. */
export const longOperatorCalls: readonly (BadCall & { readonly value: string })[] = [
  { call: "CancelTasks @v", value: thousandAndOne, ...notIds },
  { call: "RedriveTasks @v", value: thousandAndOne, ...notIds },
  { call: "RescheduleTasks @v, 1, NULL", value: thousandAndOne, ...notIds },
  {
    call: "RegisterApp N'a', N'[]', @v",
    value: `N'{"a":"' + REPLICATE(CONVERT(nvarchar(max), N'x'), 1993) + N'"}'`,
    number: 50422,
    says: `address: expected a JSON object of at most 2000 characters ({"a":"${"x".repeat(154)})`,
  },
  ...[
    "AdvanceWatermark N'demo', N'w', 0, @v, 1, N'[]'",
    `SetWatermark N'demo', N'w', @v, 0, ${someId}, N'me'`,
  ].map((call) => ({
    call,
    value: "REPLICATE(CONVERT(nvarchar(max), N'é'), 32769)",
    number: 50413,
    says: "value: expected at most 65536 bytes (65538)",
  })),
];

/** Of several faults the auditor's is told, then the first argument's, then the name. */
function twoFaults(): BadCall[] {
  const who = "w".repeat(201);
  const ofWho = [
    `RedriveTasks N'[]', NULL, NULL, NULL, NULL, N'${who}'`,
    `CancelTasks N'[]', NULL, N'${who}'`,
    `CancelBatch 9999, N'${who}'`,
    `ResumeBatch 9999, N'${who}'`,
    `PauseDefinition N'x', N'${who}'`,
    `ResumeDefinition N'x', N'${who}'`,
  ].map((call) => [call, `changed_by: expected at most 200 characters (${who})`] as const);
  const ofOthers = [
    ["RedriveTasks NULL, N'x', NULL, N'done', 1", "outcome: expected dead or cancelled (done)"],
    ["SetLimit N'x', 1, NULL, N'me'", "operation_id: expected a uuid (<NULL>)"],
    ["SetRate N'x', 5, NULL, 1, N'me'", "rate_period_ms: expected 1000..86400000 (null)"],
    [
      "SetSchedulePaused N'x', N's', 1, N'tomorrow', N'me'",
      "next_run_at: expected an ISO-8601 instant with its zone (tomorrow)",
    ],
    ["ListTasks N'x', N'ready ', 1", `state: expected ${states} (ready )`],
    ["ListSchedules N'x', 0", "max: expected 1..1000 (0)"],
    ["ListWatermarks N'x', NULL, 0", "max: expected 1..1000 (0)"],
  ] as const;
  return [...ofWho, ...ofOthers].map(([call, says]) => ({ call, number: 50422, says }));
}

/** Apps, and whose a definition is. */
function badAppCalls(): BadCall[] {
  const badNames = [
    ["NULL", "null"],
    ["N''", ""],
    ["N' a'", " a"],
    ["N'a '", "a "],
  ] as const;
  const names = "expected names of 1..200 characters without blanks at either end";
  return [
    ...badNames.flatMap(([app, shown]) => {
      const says = `app: expected 1..200 characters without blanks at either end (${shown})`;
      const calls = [`RegisterApp ${app}, N'[]'`, `SetDefinitionOwner N'demo', ${app}, N'me'`];
      return calls
        .filter((call) => !call.startsWith("Set") || app !== "NULL")
        .map((call) => ({ call, number: 50422, says }));
    }),
    ...[
      ["NULL", "expected a JSON array of names (null)"],
      ["N'{}'", "expected a JSON array of names ({})"],
      ["N'x'", "expected a JSON array of names (x)"],
      ["N'[1]'", `${names} ([1])`],
      [`N'[""]'`, `${names} ([""])`],
      [`N'["a "]'`, `${names} (["a "])`],
    ].map(([list = "", says = ""]) => ({
      call: `RegisterApp N'a', ${list}`,
      number: 50422,
      says: `definitions: ${says}`,
    })),
    ...["[]", "x", ""].map((address) => ({
      call: `RegisterApp N'a', N'[]', N'${address}'`,
      number: 50422,
      says: `address: expected a JSON object of at most 2000 characters (${address})`,
    })),
    { call: "SetDefinitionOwner N'x', N'a', N'me'", ...unknownName },
  ];
}

/** Literals; those that are left out are good. */
interface WatermarkArguments {
  readonly name?: string;
  readonly mark?: string;
  readonly version?: string;
  readonly value?: string;
}

/** Watermarks, by makers and by operators. */
function badWatermarkCalls(): BadCall[] {
  const ways = [
    ({ name = "N'demo'", mark = "N'w'", version = "0", value = "N'[]'" }: WatermarkArguments) =>
      `AdvanceWatermark ${name}, ${mark}, ${version}, ${value}, 1, N'[]'`,
    ({ name = "N'demo'", mark = "N'w'", version = "0", value = "N'[]'" }: WatermarkArguments) =>
      `SetWatermark ${name}, ${mark}, ${value}, ${version}, ${someId}, N'me'`,
  ];
  return [
    ...ways.flatMap((way) => [
      ...[
        ["NULL", "<NULL>"],
        ["N''", ""],
        ["N' w'", " w"],
        ["N'5% '", "5% "],
        [`N'${"x".repeat(201)}'`, "x".repeat(201)],
      ].map(([mark = "", shown = ""]) => ({
        call: way({ mark }),
        number: 50422,
        says: `watermark: expected 1..200 characters without blanks at either end (${shown})`,
      })),
      {
        call: way({ version: "-1" }),
        number: 50422,
        says: "expected_version: expected 0 or more (-1)",
      },
      {
        call: way({ mark: "N''", version: "-1" }),
        number: 50422,
        says: "watermark: expected 1..200 characters without blanks at either end ()",
      },
      ...["", "7", "5%", "{"].map((value) => ({
        call: way({ value: `N'${value}'` }),
        number: 50422,
        says: `value: expected the text of a JSON object or array (${value})`,
      })),
      { call: way({ name: "N'x'" }), ...unknownName },
      // Of two faults the value's is told.
      {
        call: way({ name: "N'x'", value: "N'7'" }),
        number: 50422,
        says: "value: expected the text of a JSON object or array (7)",
      },
      {
        call: way({ name: "N'demo '" }),
        number: 50404,
        says: "name: unknown definition (demo )",
      },
      {
        call: way({ name: "NULL" }),
        number: 50404,
        says: "name: unknown definition (<NULL>)",
      },
    ]),
    {
      call: "AdvanceWatermark N'demo', N'w', 0, NULL, 1, N'[]'",
      number: 50422,
      says: "value: expected the text of a JSON object or array (<NULL>)",
    },
    // Of two faults the first argument's is told.
    ...["SetLimit N'demo'", "SetSharedLimit N's'"].map((change) => ({
      call: `${change}, -2, NULL, N'me'`,
      number: 50422,
      says: "limit: expected -1 (none), 0 (nothing starts) or 1..1000 (-2)",
    })),
    ...[
      "SetWatermark N'demo', N'w', N'[]', 0",
      "SetLimit N'demo', 1",
      "SetSharedLimit N's', 1",
    ].map((change) => ({
      call: `${change}, NULL, N'me'`,
      number: 50422,
      says: "operation_id: expected a uuid (<NULL>)",
    })),
    ...[
      ["NULL", "<NULL>"],
      ["0", "0"],
      ["1001", "1001"],
    ].map(([max = "", shown = ""]) => ({
      call: `ListWatermarks NULL, NULL, ${max}`,
      number: 50422,
      says: `max: expected 1..1000 (${shown})`,
    })),
    { call: "ListWatermarks N'x', NULL, 1", ...unknownName },
    {
      call: "ListWatermarks N'demo ', NULL, 1",
      number: 50404,
      says: "name: unknown definition (demo )",
    },
  ];
}
