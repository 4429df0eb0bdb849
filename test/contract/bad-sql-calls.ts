/** An operation id that nothing has used. */
export const someId = "'00000000-0000-4000-8000-0000000000AB'";

/** A call of a procedure, without EXEC and schema, and the error that it must raise. */
export interface BadCall {
  /** Where the call is too long for one. */
  readonly title?: string;
  readonly call: string;
  readonly number: number;
  readonly says: string | RegExp;
}

/** The settings of a registration, by parameter. */
const settings = {
  Name: "N'demo'",
  Build: "1",
  SettingsHash: "N'h'",
  RegisteredBy: "N'me'",
  Limit: "2",
  LeaseMs: "60000",
  RetryAttempts: "5",
  LostMax: "3",
  RetryBaseMs: "1000",
  RetryCapMs: "300000",
  PrefetchMax: "1",
  GroupSlots: "1",
  GroupStrict: "0",
  RetainDoneMs: "1000",
  RetainDeadMs: "1000",
} as const;

function register(changes: Partial<Record<keyof typeof settings, string>>): string {
  const values = Object.entries({ ...settings, ...changes });
  return `RegisterDefinition ${values.map(([name, value]) => `@${name} = ${value}`).join(", ")}`;
}

/** Registrations with one bad value each. */
export const badSettings: readonly BadCall[] = (
  [
    [{ Name: "NULL" }, "name: expected 1..200 characters without blanks at either end (null)"],
    [{ Name: "N''" }, "name: expected 1..200 characters without blanks at either end ()"],
    [{ Name: "N' x'" }, "name: expected 1..200 characters without blanks at either end ( x)"],
    [{ Name: "N'5% '" }, "name: expected 1..200 characters without blanks at either end (5% )"],
    [{ Build: "NULL" }, "build: expected 0 or more (null)"],
    [{ Build: "-1" }, "build: expected 0 or more (-1)"],
    [{ SettingsHash: "NULL" }, "settings_hash: expected 1..64 characters (null)"],
    [{ SettingsHash: "N''" }, "settings_hash: expected 1..64 characters ()"],
    [
      { RegisteredBy: "N' '" },
      "registered_by: expected 1..200 characters, or null for the login ( )",
    ],
    [
      { RegisteredBy: `N'${"b".repeat(201)}'` },
      `registered_by: expected 1..200 characters, or null for the login (${"b".repeat(201)})`,
    ],
    [{ Limit: "NULL" }, "limit: expected -1..1000 (null)"],
    [{ Limit: "-2" }, "limit: expected -1..1000 (-2)"],
    [{ Limit: "1001" }, "limit: expected -1..1000 (1001)"],
    [{ LeaseMs: "NULL" }, "lease_ms: expected 1000..86400000 (null)"],
    [{ LeaseMs: "999" }, "lease_ms: expected 1000..86400000 (999)"],
    [{ RetryAttempts: "NULL" }, "retry_attempts: expected 1..1000 (null)"],
    [{ RetryAttempts: "40000" }, "retry_attempts: expected 1..1000 (40000)"],
    [{ LostMax: "NULL" }, "lost_max: expected 0..1000 (null)"],
    [{ LostMax: "-1" }, "lost_max: expected 0..1000 (-1)"],
    [{ RetryBaseMs: "NULL" }, "retry_base_ms: expected 0..86400000 (null)"],
    [{ RetryBaseMs: "-1" }, "retry_base_ms: expected 0..86400000 (-1)"],
    [{ RetryCapMs: "NULL" }, "retry_cap_ms: expected retry_base_ms or more (null)"],
    [{ RetryCapMs: "999" }, "retry_cap_ms: expected retry_base_ms or more (999)"],
    [{ PrefetchMax: "NULL" }, "prefetch_max: expected 0..1000 (null)"],
    [{ PrefetchMax: "1001" }, "prefetch_max: expected 0..1000 (1001)"],
    [{ GroupSlots: "NULL" }, "group_slots: expected 1..1000 (null)"],
    [{ GroupSlots: "0" }, "group_slots: expected 1..1000 (0)"],
    [{ GroupStrict: "NULL" }, "group_strict: expected true or false (null)"],
    [{ RetainDoneMs: "NULL" }, "retain_done_ms: expected 0..3153600000000 (null)"],
    [{ RetainDoneMs: "-1" }, "retain_done_ms: expected 0..3153600000000 (-1)"],
    [{ RetainDeadMs: "NULL" }, "retain_dead_ms: expected 0..3153600000000 (null)"],
  ] as const
).map(([changes, says]) => {
  const title = `RegisterDefinition with ${JSON.stringify(changes)}`;
  return { title, call: register(changes), number: 50422, says };
});

/** An enqueue whose second task is bad. */
function enqueueWith(entry: string): string {
  return `EnqueueTasks N'demo', 1, N'[{},${entry}]'`;
}

/** A search by what stands in payloads, with path and value of these lengths; 0: without a path. */
function listByPayload(name: string, path: number, value: number): string {
  const at = path === 0 ? "" : `, @Path = N'${"p".repeat(path)}'`;
  return `ListTasks N'${name}', N'ready', 1${at}, @Value = N'${"v".repeat(value)}'`;
}

const unknownName = { number: 50404, says: "name: unknown definition (x)" } as const;

/** Everything else that can be written out. */
export const badCalls: readonly BadCall[] = [
  // A part of a rate is no rate.
  ...["RatePeriodMs", "RateBurst"].map((part) => ({
    call: `${register({})}, @${part} = 1000`,
    number: 50422,
    says: "rate_count: expected 1..1000000 (null)",
  })),
  // Of two faults that of the caller is told.
  {
    call: `SetLimit N'demo', -2, ${someId}, N'${"x".repeat(201)}'`,
    number: 50422,
    says: `changed_by: expected at most 200 characters (${"x".repeat(201)})`,
  },
  {
    call: `SetLimit N'demo', -2, ${someId}, N'me'`,
    number: 50422,
    says: "limit: expected -1 (none), 0 (nothing starts) or 1..1000 (-2)",
  },
  {
    call: `SetLimit N'demo', 1001, ${someId}, N'me'`,
    number: 50422,
    says: "limit: expected -1 (none), 0 (nothing starts) or 1..1000 (1001)",
  },
  { call: `SetLimit N'x', 1, ${someId}, N'me'`, ...unknownName },
  {
    call: `SetLimit NULL, 1, ${someId}, N'me'`,
    number: 50404,
    says: "name: unknown definition (<NULL>)",
  },
  // A server compares names as if they were filled up with blanks.
  {
    call: `SetLimit N'demo ', 1, ${someId}, N'me'`,
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  { call: "PauseDefinition N'x', N'me'", ...unknownName },
  {
    call: "PauseDefinition N'demo ', N'me'",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  { call: "ResumeDefinition N'x', N'me'", ...unknownName },
  {
    call: "ResumeDefinition N'demo ', N'me'",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  {
    call: "ResumeDefinition N'100%', N'me'",
    number: 50404,
    says: "name: unknown definition (100%)",
  },
  {
    call: `StartExecution N'demo', ${someId}, N'w', 1, N'h', NULL, 0`,
    number: 50422,
    says: "want: expected 1..1000 (<NULL>)",
  },
  {
    call: `StartExecution N'demo', ${someId}, N'w', 1, N'h', 1001, 0`,
    number: 50422,
    says: "want: expected 1..1000 (1001)",
  },
  {
    call: `StartExecution N'demo', ${someId}, N'', 1, N'h', 1, 0`,
    number: 50422,
    says: "worker: expected 1..200 characters ()",
  },
  {
    call: `StartExecution N'demo', ${someId}, NULL, 1, N'h', 1, 0`,
    number: 50422,
    says: "worker: expected 1..200 characters (<NULL>)",
  },
  { call: "AcquireTokens 1, 0", number: 50422, says: "want: expected 1..1000 (0)" },
  { call: "AcquireTokens 1, NULL", number: 50422, says: "want: expected 1..1000 (<NULL>)" },
  { call: "ReleaseTokens 1, -1", number: 50422, says: "keep: expected 0..1000 (-1)" },
  { call: "ReleaseTokens 1, NULL", number: 50422, says: "keep: expected 0..1000 (<NULL>)" },
  { call: "ReleaseSurplus 1, -1", number: 50422, says: "keep: expected 0..1000 (-1)" },
  { call: "ReleaseSurplus 1, NULL", number: 50422, says: "keep: expected 0..1000 (<NULL>)" },
  { call: "Work 1, 1, @Want = 1001", number: 50422, says: "want: expected 0..1000 (1001)" },
  { call: "Work 1, 0", number: 50422, says: "call_number: expected 1 or more (0)" },
  { call: "Work 1, NULL", number: 50422, says: "call_number: expected 1 or more (<NULL>)" },
  // One list alone, each.
  ...[
    ["Work 1, 1, N'[1]'", 1] as const,
    ["Work 1, 1, @DoneFences = N'[1]'", 0] as const,
    ["Work 1, 1, @DoneDurationsMs = N'[1]'", 0] as const,
  ].map(([call, count]) => ({
    call,
    number: 50422,
    says: `done_fences: expected as many as done_task_ids (${String(count)})`,
  })),
  {
    call: "Work 1, 1, N'[1]', N'[1,2]'",
    number: 50422,
    says: "done_fences: expected as many as done_task_ids (1)",
  },
  {
    call: "Work 1, 1, N'[1]', N'[1]', N'[1,2]'",
    number: 50422,
    says: "done_fences: expected as many as done_task_ids (1)",
  },
  { call: "FailTasks 1, NULL", number: 50422, says: /^failures: / },
  { call: "FailTasks 1, N'{}'", number: 50422, says: /^failures: / },
  { call: "FailTasks 1, N'[]'", number: 50422, says: /^failures: / },
  {
    call: "Heartbeat N'{}'",
    number: 50422,
    says: "executions: expected a JSON array of 1..1000 entries",
  },
  {
    call: "Heartbeat NULL",
    number: 50422,
    says: "executions: expected a JSON array of 1..1000 entries",
  },
  {
    call: "Heartbeat N'[]'",
    number: 50422,
    says: "executions: expected a JSON array of 1..1000 entries",
  },
  ...(
    [
      ['[{"execution":1},{"execution":"x%"}]', "[1].execution: expected an id (x%)"],
      ['[{"execution":""}]', "[0].execution: expected an id ()"],
      [
        '[{"execution":9223372036854775808}]',
        "[0].execution: expected an id (9223372036854775808)",
      ],
      ['[{"execution":1,"started":[2,"y","z"]}]', "[0].started: expected ids (y)"],
    ] as const
  ).map(([entries, says]) => ({
    call: `Heartbeat N'${entries}'`,
    number: 50422,
    says: `executions${says}`,
  })),
  { call: "ReportProgress 1, 1, 1, -1, 1, NULL", number: 50422, says: /^done: .*-1/ },
  { call: "ReclaimExpired 0", number: 50422, says: "max: expected 1..1000 (0)" },
  { call: "ReclaimExpired NULL", number: 50422, says: "max: expected 1..1000 (<NULL>)" },
  { call: "PromoteScheduled N'demo', 0", number: 50422, says: "max: expected 1..10000 (0)" },
  {
    call: "PromoteScheduled N'demo', NULL",
    number: 50422,
    says: "max: expected 1..10000 (<NULL>)",
  },
  { call: "PromoteScheduled N'x', 1", ...unknownName },
  {
    call: "PromoteScheduled N'demo ', 1",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  { call: "Sweep 0", number: 50422, says: /^max: .*\(0\)$/ },
  { call: "Sweep NULL", number: 50422, says: /^max: .*\(<NULL>\)$/ },
  { call: "Purge 0", number: 50422, says: "max: expected 1..1000 (0)" },
  { call: "Purge 1001", number: 50422, says: "max: expected 1..1000 (1001)" },
  { call: "Purge NULL", number: 50422, says: "max: expected 1..1000 (<NULL>)" },
  { call: "ListExecutions NULL, 1, 0", number: 50422, says: "max: expected 1..1000 (0)" },
  { call: "ListExecutions NULL, 1, NULL", number: 50422, says: "max: expected 1..1000 (<NULL>)" },
  { call: "ListTasks N'demo', N'ready', 0", number: 50422, says: "max: expected 1..1000 (0)" },
  {
    call: "ListTasks N'demo', N'ready', NULL",
    number: 50422,
    says: "max: expected 1..1000 (<NULL>)",
  },
  {
    call: "ListTasks N'demo', N'blocked', 1",
    number: 50422,
    says: "state: expected ready, scheduled, waiting, claimed, done, dead or cancelled (blocked)",
  },
  {
    call: "ListTasks N'demo', NULL, 1",
    number: 50422,
    says: "state: expected ready, scheduled, waiting, claimed, done, dead or cancelled (<NULL>)",
  },
  // Case and blanks count, under any collation of the database.
  { call: "ListTasks N'demo', N'READY', 1", number: 50422, says: /^state: .*\(READY\)$/ },
  { call: "ListTasks N'demo', N'ready ', 1", number: 50422, says: /^state: .*\(ready \)$/ },
  { call: "ListTasks N'x', N'ready', 1", ...unknownName },
  {
    call: "ListTasks N'demo ', N'ready', 1",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  {
    call: "ListTasks N'demo', N'ready', 1, N'x%'",
    number: 50422,
    says: "after: expected `next` of the page before, as it is (x%)",
  },
  { call: `ListTasks N'demo', N'ready', 1, N'["1","2"]'`, number: 50422, says: /^after: / },
  { call: `ListTasks N'demo', N'done', 1, N'["1","x"]'`, number: 50422, says: /^after: / },
  {
    call: "ListTasks N'demo', N'ready', 1, @LookMax = 5001",
    number: 50422,
    says: "look_max: expected 1..5000 (5001)",
  },
  { call: "ListTasks N'demo', N'ready', 1, @Key = N''", number: 50422, says: /^key: / },
  {
    call: "ListTasks N'demo', N'ready', 1, @KeyPrefix = N' a'",
    number: 50422,
    says: /^key_prefix: /,
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @GroupKey = N'a '",
    number: 50422,
    says: /^group_key: /,
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @CreatedSince = N'now%'",
    number: 50422,
    says: "created_since: expected an ISO-8601 instant with its zone (now%)",
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @FinishedBefore = N'2030-01-01'",
    number: 50422,
    says: /^finished_before: .*\(2030-01-01\)$/,
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @Path = N'a-b', @Value = N'1'",
    number: 50422,
    says: /^path: expected names of letters.*\(a-b\)$/,
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @Path = N'a.1', @Value = N'1'",
    number: 50422,
    says: /^path: /,
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @Path = N'a.', @Value = N'1'",
    number: 50422,
    says: /^path: /,
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @Path = N'a'",
    number: 50422,
    says: "value: expected it together with path (<NULL>)",
  },
  {
    call: "ListTasks N'demo', N'ready', 1, @Value = N'a'",
    number: 50422,
    says: "value: expected it together with path (a)",
  },
  // Of two faults the first filter's is told.
  ...(
    [
      ["@Key = N'', @KeyPrefix = N''", /^key: /],
      ["@KeyPrefix = N'', @GroupKey = N''", /^key_prefix: /],
      ["@GroupKey = N'', @CreatedSince = N''", /^group_key: /],
      [
        "@CreatedSince = N'a', @CreatedBefore = N'b', @FinishedBefore = N'c'",
        /^created_since: .*\(a\)$/,
      ],
      ["@CreatedSince = N'2030-01-01T00:00:00Z', @CreatedBefore = N'b'", /^created_before: /],
      ["@FinishedBefore = N'c', @Path = N'a-b'", /^finished_before: /],
      ["@Path = N'', @Value = N'1'", /^path: .*\(\)$/],
      ["@Path = N'a-b'", /^path: /],
    ] as const
  ).map(([filters, says]) => ({
    call: `ListTasks N'demo', N'ready', 1, ${filters}`,
    number: 50422,
    says,
  })),
  ...(
    [
      ["a path of 201 characters", 201, 1, /^path: /],
      ["no path and a value of 201", 0, 201, /^value: expected it together with path/],
      [
        "a value of 201 characters",
        1,
        201,
        `value: expected at most 200 characters (${"v".repeat(201)})`,
      ],
    ] as const
  ).map(([what, path, value, says]) => ({
    title: `ListTasks with ${what}`,
    call: listByPayload("demo", path, value),
    number: 50422,
    says,
  })),
  {
    title: "ListTasks of an unknown name, with a path and a value of 200 characters",
    call: listByPayload("x", 200, 200),
    ...unknownName,
  },
  { call: "EnqueueTasks N'x', 1, N'[{}]'", ...unknownName },
  {
    call: "EnqueueTasks N'demo', 1, N'[{}]', @ChangedBy = N' '",
    number: 50422,
    says: "changed_by: expected a name, or null for the login ( )",
  },
  {
    call: "EnqueueTasks N'demo ', 1, N'[{}]'",
    number: 50404,
    says: "name: unknown definition (demo )",
  },
  {
    call: "EnqueueTasks N'demo', 1, NULL",
    number: 50422,
    says: "tasks: expected a JSON array (<NULL>)",
  },
  {
    call: "EnqueueTasks N'demo', 1, N'{}'",
    number: 50422,
    says: "tasks: expected a JSON array ({})",
  },
  {
    call: "EnqueueTasks N'demo', 1, N'[5%'",
    number: 50422,
    says: "tasks: expected a JSON array ([5%)",
  },
  {
    call: "EnqueueTasks N'demo', 1, N'[]'",
    number: 50413,
    says: "tasks: expected 1..10000 entries (0)",
  },
  {
    call: "EnqueueTasks N'demo', 1, N'[{},7]'",
    number: 50422,
    says: "tasks: expected a JSON array of objects ([{},7])",
  },
  { call: enqueueWith('{"payload":"7"}'), number: 50422, says: /^tasks\[1\]\.payload: .*\(7\)$/ },
  { call: enqueueWith('{"payload":"no"}'), number: 50422, says: /^tasks\[1\]\.payload: .*\(no\)$/ },
  { call: enqueueWith('{"kind":""}'), number: 50422, says: /^tasks\[1\]\.kind: .*\(\)$/ },
  { call: enqueueWith('{"priority":40000}'), number: 50422, says: /^tasks\[1\]\.priority: / },
  { call: enqueueWith('{"priority":"x"}'), number: 50422, says: /^tasks\[1\]\.priority: / },
  { call: enqueueWith('{"group":" g"}'), number: 50422, says: /^tasks\[1\]\.group: .*\( g\)$/ },
  {
    call: enqueueWith('{"group":"g","groupScope":"x"}'),
    number: 50422,
    says: /^tasks\[1\]\.groupScope: .*\(x\)$/,
  },
  { call: enqueueWith('{"runInMs":-1}'), number: 50422, says: /^tasks\[1\]\.runInMs: .*\(-1\)$/ },
  {
    call: enqueueWith('{"runInMs":1,"runAt":"2030-01-01T00:00:00Z"}'),
    number: 50422,
    says: /^tasks\[1\]\.runAt: /,
  },
  {
    call: enqueueWith('{"dedupeKey":"k "}'),
    number: 50422,
    says: /^tasks\[1\]\.dedupeKey: .*\(k \)$/,
  },
  // What can't be read is told first, then what can but isn't a payload, in the order of the entries.
  ...[
    ["{", "tasks[1].payload: expected the text of a JSON object or array ({)"],
    ["7", "tasks[0].kind: expected 1..200 characters without blanks at either end ()"],
  ].map(([payload = "", says = ""]) => ({
    call: `EnqueueTasks N'demo', 1, N'[{"kind":""},{"payload":"${payload}"}]'`,
    number: 50422,
    says,
  })),
  {
    call: enqueueWith('{"dedupeKey":"k","onDuplicate":"Replace"}'),
    number: 50422,
    says: "tasks[1].onDuplicate: expected keep or replace (Replace)",
  },
  {
    call: enqueueWith('{"dedupeKey":"k","onDuplicate":"keep "}'),
    number: 50422,
    says: "tasks[1].onDuplicate: expected keep or replace (keep )",
  },
  {
    call: enqueueWith('{"dedupeKey":"k","dedupeMs":0}'),
    number: 50422,
    says: /^tasks\[1\]\.dedupeMs: .*\(0\)$/,
  },
  {
    call: `CompleteTask 1, 1, 1, 1, N'"text"'`,
    number: 50422,
    says: 'result: expected the text of a JSON object or array ("text")',
  },
  {
    call: "CompleteTask 1, 1, 1, 1, N'5%'",
    number: 50422,
    says: "result: expected the text of a JSON object or array (5%)",
  },
];

/** Texts that are too long to be written out, by a variable. */
export const longCalls: readonly (BadCall & { readonly value: string })[] = [
  {
    title: "an actor of 201 characters",
    value: "REPLICATE(N'x', 201)",
    call: "EnqueueTasks N'demo', 1, N'[{}]', @ChangedBy = @v",
    number: 50422,
    says: /^changed_by: expected at most 200 characters/u,
  },
  {
    title: "a reason of 401 characters, without an actor",
    value: "REPLICATE(N'x', 401)",
    call: "EnqueueTasks N'demo', 1, N'[{}]', @Reason = @v",
    number: 50422,
    says: /^reason: expected at most 400 characters/u,
  },
  {
    title: "a list of more than 8 MiB",
    value: `N'["' + REPLICATE(CONVERT(nvarchar(max), N'x'), 8388605) + N'"]'`,
    call: "EnqueueTasks N'demo', 1, @v",
    number: 50413,
    says: "tasks: expected at most 8388608 bytes (8388609)",
  },
  {
    // Of two faults the list's is told, as it is looked at first.
    title: "a list of more than 8 MiB, and an actor of 201 characters",
    value: `N'["' + REPLICATE(CONVERT(nvarchar(max), N'x'), 8388605) + N'"]'`,
    call: `EnqueueTasks N'demo', 1, @v, @ChangedBy = N'${"w".repeat(201)}'`,
    number: 50413,
    says: "tasks: expected at most 8388608 bytes (8388609)",
  },
  {
    // Likewise of an entry.
    title: "an unreadable payload of 65,536 bytes, and a priority that is none",
    value: `N'[{"priority":"x","payload":"[' + REPLICATE(CONVERT(nvarchar(max), N'x'), 65535) + N'"}]'`,
    call: "EnqueueTasks N'demo', 1, @v",
    number: 50422,
    says: /^tasks\[0\]\.payload: expected the text of a JSON object or array \(\[x{99}\)$/,
  },
  {
    title: "10,001 tasks",
    value: "N'[' + REPLICATE(CONVERT(nvarchar(max), N'{},'), 10000) + N'{}]'",
    call: "EnqueueTasks N'demo', 1, @v",
    number: 50413,
    says: "tasks: expected 1..10000 entries (10001)",
  },
  {
    title: "a result of 65,537 bytes",
    value: `N'["' + REPLICATE(CONVERT(nvarchar(max), N'x'), 65533) + N'"]'`,
    call: "CompleteTask 1, 1, 1, 1, @v",
    number: 50413,
    says: "result: expected at most 65536 bytes (65537)",
  },
  {
    title: "1,001 executions",
    value: `N'[' + REPLICATE(CONVERT(nvarchar(max), N'{"execution":1},'), 1000) + N'{"execution":1}]'`,
    call: "Heartbeat @v",
    number: 50422,
    says: "executions: expected a JSON array of 1..1000 entries",
  },
  {
    title: "a name of 201 characters",
    value: "REPLICATE(CONVERT(nvarchar(max), N'n'), 201)",
    call: register({ Name: "@v" }),
    number: 50422,
    says: /^name: .*\(n{201}\)$/,
  },
  {
    title: "a hash of 65 characters",
    value: "REPLICATE(CONVERT(nvarchar(max), N'h'), 65)",
    call: register({ SettingsHash: "@v" }),
    number: 50422,
    says: /^settings_hash: .*\(h{65}\)$/,
  },
  {
    title: "a worker of 201 characters",
    value: "REPLICATE(CONVERT(nvarchar(max), N'w'), 201)",
    call: `StartExecution N'demo', ${someId}, @v, 1, N'h', 1, 0`,
    number: 50422,
    says: /^worker: .*\(w{201}\)$/,
  },
  {
    title: "a reason of 401 characters, before the ids",
    value: "REPLICATE(CONVERT(nvarchar(max), N'r'), 401)",
    call: "RescheduleTasks N'[]', 1, NULL, N'me', @v",
    number: 50422,
    says: /^reason: .*\(r{401}\)$/,
  },
  {
    title: "a long unknown name, cut",
    value: "REPLICATE(CONVERT(nvarchar(max), N'n'), 2000)",
    call: "PauseDefinition @v, N'me'",
    number: 50404,
    says: /^name: unknown definition \(n{900}\)$/,
  },
];
