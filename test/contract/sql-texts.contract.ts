import { describe, expect, test } from "@jest/globals";
import { at, define, enqueueOne, factsOf, operationId, statusOf } from "../support/builders";
import { expectError } from "../support/expect-error";
import { answerOf, errorOf } from "./sql-answers";
import type { StoreDialect, StoreTransaction } from "../../shared/ports/task-store";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup, TestStore } from "../support/store-setup";

/** Texts of callers in plain SQL, which both databases read alike: instants, and JSON that begins with blanks. */
export function describeSqlTexts(setup: StoreSetup): void {
  describe("an instant in plain SQL", () => {
    describeInstants(setup);
  });
  describe("JSON in plain SQL", () => {
    describeJson(setup);
  });
  describe("who and why in plain SQL", () => {
    describeAudit(setup);
  });
}

interface Statements {
  readonly postgres: string;
  readonly mssql: string;
  /** Of something inside, which only the schema's owner may call. */
  readonly isInternal?: boolean;
}

/** Runs a statement of one dialect in a transaction of the user's; `?` stands for the values. */
async function ask(
  opened: TestStore,
  statements: Statements,
  ...values: readonly string[]
): Promise<Record<string, unknown> | undefined> {
  const run = (transaction: StoreTransaction): Promise<Record<string, unknown>[]> => {
    let place = 0;
    const sign = transaction.dialect === "mssql" ? "@p" : "$";
    const text = statements[transaction.dialect === "mssql" ? "mssql" : "postgres"];
    return transaction.query(
      text.replaceAll("?", () => `${sign}${String((place += 1))}`),
      values,
    );
  };
  const { isInternal = false } = statements;
  const rows = await (isInternal ? opened.asOwner(run) : opened.store.transaction(run));
  return rows[0];
}

const enqueue = {
  postgres: "select status as word from taskgate.enqueue_tasks(?, 1, ?)",
  mssql: "EXEC Taskgate.EnqueueTasks ?, 1, ?;",
};

const instants: readonly [text: string, at: string][] = [
  ["2030-01-31T08:30:00Z", "2030-01-31T08:30:00.000Z"],
  ["2030-01-31T08:30:00+02:00", "2030-01-31T06:30:00.000Z"],
  ["2030-01-31T08:30:00-14:00", "2030-01-31T22:30:00.000Z"],
  ["2030-01-31T08:30:00.5Z", "2030-01-31T08:30:00.500Z"],
  ["2030-01-31T08:30:00.1239999Z", "2030-01-31T08:30:00.123Z"],
  ["2030-01-31T08:30:59.9999999+00:30", "2030-01-31T08:00:59.999Z"],
  ["2030-01-31T08:30:00.1234567+02:00", "2030-01-31T06:30:00.123Z"],
  ["2028-02-29T23:59:59Z", "2028-02-29T23:59:59.000Z"],
];

const noInstants = [
  "",
  "tomorrow",
  "now",
  "infinity",
  "2030-01-31",
  "2030-01-31T08:30:00",
  "2030-01-31T08:30:00.123",
  "2030-01-31T08:30Z",
  "2030-01-31 08:30:00Z",
  "2030-01-31T08:30:00 Z",
  "2030-01-31T08:30:00Z ",
  " 2030-01-31T08:30:00Z",
  "2030-01-31T08:30:00z",
  "2030-01-31t08:30:00Z",
  "2030-01-31T08:30:00+02",
  "2030-01-31T08:30:00+0200",
  "2030-01-31T08:30:00+14:01",
  "2030-01-31T08:30:00+02:60",
  "2030-01-31T08:30:00.Z",
  "2030-01-31T08:30:00.12345678Z",
  "2030-01-31T08:30:00,5Z",
  "2030-01-31T08:30:00:123Z",
  "2030-01-31T08:30:00.123x567Z",
  "2030-01-31T08:30:00.1234 67Z",
  "2030-01-31T08:30:00Z and everything that stands behind it",
  "2030-01-31T08:30:00.1234567+02:00+02:00Z",
  "Z",
  "+02:00",
  "2030-01-31T08:30:00 Europe/Berlin",
  "2030-01-31T08:30:00CET",
  "2030-02-30T08:30:00Z",
  "2029-02-29T08:30:00Z",
  "2030-13-01T08:30:00Z",
  "2030-01-31T24:00:00Z",
  "2030-01-31T08:30:60Z",
  "0001-01-01T00:00:00+01:00",
  "9999-12-31T23:59:59-01:00",
  "20300131T083000Z",
  "31.01.2030 08:30:00Z",
  "1893486600",
];

function describeInstants(setup: StoreSetup): void {
  const open = useStore(setup);
  const read = {
    postgres: "select taskgate._iso(taskgate._instant(?)) as read",
    mssql: "SELECT Taskgate._Iso(Taskgate._Instant(?)) AS [read];",
    isInternal: true,
  };

  testWith(setup, "raw sql")("an instant has its zone, and is cut to the millisecond", async () => {
    const opened = open();
    for (const [text, at] of instants) {
      expect([text, (await ask(opened, read, text))?.["read"]]).toEqual([text, at]);
    }
  });

  testWith(setup, "raw sql")(
    "a text without zone, as a word or of no calendar isn't an instant",
    async () => {
      const opened = open();
      for (const text of noInstants) {
        expect([text, (await ask(opened, read, text))?.["read"]]).toEqual([text, null]);
      }
    },
  );

  testWith(setup, "raw sql")(
    "a text that isn't an instant is refused by every operation, naming field and value",
    async () => {
      const opened = open();
      const name = await define(opened.store);
      for (const text of ["tomorrow", "2030-01-31T08:30:00", "2030-02-30T08:30:00Z"]) {
        const tasks = JSON.stringify([{}, { runAt: text }]);
        await expect(ask(opened, enqueue, name, tasks)).rejects.toThrow(
          `tasks[1].runAt: expected an ISO-8601 instant with its zone (${text})`,
        );
      }
      expect(await statusOf(opened.store, name)).toMatchObject({ ready: 0, scheduled: 0 });
    },
  );

  testWith(setup, "raw sql")("an instant with an offset is met in UTC", async () => {
    const opened = open();
    const name = await define(opened.store);
    const tasks = JSON.stringify([
      { runAt: "2999-01-31T08:30:00+02:00" },
      { runAt: "2001-01-31T08:30:00-02:00" },
    ]);
    await ask(opened, enqueue, name, tasks);
    expect(await statusOf(opened.store, name)).toMatchObject({ ready: 1, scheduled: 1 });
  });
}

function describeJson(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "raw sql")("the JSON may begin with any blank of JSON", async () => {
    const opened = open();
    const name = await define(opened.store);
    for (const blanks of ["\t", "\r\n", "\n", " \t\r\n "]) {
      const payload = `${blanks}{"[":1}${blanks}`;
      await ask(opened, enqueue, name, `${blanks}[${JSON.stringify({ payload })}]${blanks}`);
    }
    expect(await statusOf(opened.store, name)).toMatchObject({ ready: 4 });
  });

  testWith(setup, "raw sql")("the JSON is told apart by its first bracket", async () => {
    const opened = open();
    const name = await define(opened.store);
    for (const tasks of ['\n{"a":[]}', '\t"["', " 7", "\u00a0[{}]", "\v[{}]", "[{}] x", "\n"]) {
      await expect(ask(opened, enqueue, name, tasks)).rejects.toThrow(/JSON|json/);
    }
    for (const payload of ['\n"{"', '\t"[]"', "\n7", "\v{}", ""]) {
      const tasks = JSON.stringify([{ payload }]);
      await expect(ask(opened, enqueue, name, tasks)).rejects.toThrow(
        /tasks\[0\]\.payload: expected the text of a JSON object or array/,
      );
    }
    expect(await statusOf(opened.store, name)).toMatchObject({ ready: 0 });
  });

  const lists: readonly [postgres: string, mssql: string, says: string][] = [
    [
      "enqueue_tasks('demo', 1, '?')",
      "EnqueueTasks 'demo', 1, '?'",
      "tasks: expected a JSON array",
    ],
    [
      "fail_tasks(1, '?')",
      "FailTasks 1, '?'",
      "failures: expected a JSON array of 1..1000 entries",
    ],
    ["heartbeat('?')", "Heartbeat '?'", "executions: expected a JSON array of 1..1000 entries"],
    [
      "advance_watermark('demo', 'w', 0, '{}', 1, '?')",
      "AdvanceWatermark 'demo', 'w', 0, '{}', 1, '?'",
      "tasks: expected a JSON array",
    ],
    [
      "set_schedules('demo', 1, '?', 'me')",
      "SetSchedules 'demo', 1, '?', 'me'",
      "schedules: expected a JSON array of objects",
    ],
  ];

  testWith(setup, "raw sql")("the JSON is told to be none where a list is expected", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    for (const text of ["not json", "", "[", '{"a":[]}', '["a" "b"]']) {
      for (const [postgres, mssql, says] of lists) {
        const calls = { postgres: postgres.replace("?", text), mssql: mssql.replace("?", text) };
        expect(await refusal(opened, setup.dialect, calls)).toContain(says);
      }
    }
  });

  const nested: readonly [entry: string, says: string][] = [
    ['{"kind":{"a":1}}', 'kind: expected 1..200 characters without blanks at either end ({"a":1})'],
    ['{"group":[1]}', "group: expected 1..200 characters without blanks at either end ([1])"],
    [
      '{"dedupeKey":{"a":1}}',
      'dedupeKey: expected 1..200 characters without blanks at either end ({"a":1})',
    ],
    [
      '{"group":"g","groupScope":["global"]}',
      'groupScope: expected definition or global (["global',
    ],
    ['{"priority":{}}', "priority: expected a whole number ({})"],
    ['{"runInMs":[1]}', "runInMs: expected a whole number ([1])"],
    ['{"runAt":{}}', "runAt: expected an ISO-8601 instant with its zone ({})"],
    ['{"dedupeKey":"k","dedupeMs":[1]}', "dedupeMs: expected a whole number ([1])"],
    ['{"dedupeKey":"k","onDuplicate":{}}', "onDuplicate: expected keep or replace ({})"],
    ['{"trace":{"a":1}}', 'trace: expected a W3C traceparent ({"a":1})'],
  ];

  for (const [entry, says] of nested) {
    testWith(setup, "raw sql")(`enqueue_tasks refuses ${entry}: it would be no text`, async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      const calls = {
        postgres: `enqueue_tasks('demo', 1, '[{},${entry}]')`,
        mssql: `EnqueueTasks 'demo', 1, '[{},${entry}]'`,
      };
      expect(await refusal(opened, setup.dialect, calls)).toContain(`tasks[1].${says}`);
    });
  }

  const unknown: readonly [entries: string, says: string][] = [
    ['{},{"run_at":"2030-01-01T00:00:00Z"}', "tasks[1]: expected no members but payload, kind, "],
    ['{},{"run_at":"2030-01-01T00:00:00Z"}', "onDuplicate and trace (run_at)"],
    ['{"zz":1,"kind":"k","dedupe_key":"k"}', "tasks[0]: expected no members but "],
    ['{"zz":1,"kind":"k","dedupe_key":"k"}', "(dedupe_key)"],
    ['{"zz":1},{"a":1},7', "(zz)"],
    ['{"Kind":"k"}', "(Kind)"],
    ['{"kind ":"k"}', "(kind )"],
    ['{"":null}', "trace ()"],
    ['{"%s 100%":1}', "(%s 100%)"],
    [`{"${"n".repeat(300)}":1}`, `(${"n".repeat(100)})`],
    ['{"priority":"x","runat":1}', "(runat)"],
  ];

  for (const [entries, says] of unknown) {
    const title = `a misspelt member is refused and told: ${entries.slice(0, 60)} ${says.slice(0, 40)}`;
    testWith(setup, "raw sql")(title, async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      const calls = {
        postgres: `enqueue_tasks('demo', 1, '[${entries}]')`,
        mssql: `EnqueueTasks 'demo', 1, '[${entries}]'`,
      };
      expect(await refusal(opened, setup.dialect, calls)).toContain(says);
      if (setup.dialect === "mssql")
        expect(await errorOf(opened, calls.mssql)).toMatchObject({ number: 50422 });
      const advance = {
        postgres: `advance_watermark('demo', 'w', 0, '{}', 1, '[${entries}]')`,
        mssql: `AdvanceWatermark 'demo', 'w', 0, '{}', 1, '[${entries}]'`,
      };
      expect(await refusal(opened, setup.dialect, advance)).toContain(says);
      expect(await statusOf(opened.store, "demo")).toMatchObject({ ready: 0, scheduled: 0 });
    });
  }

  testWith(setup, "raw sql")("an unknown definition is told before a misspelt member", async () => {
    const calls = {
      postgres: `enqueue_tasks('nothing', 1, '[{"run_at":1}]')`,
      mssql: `EnqueueTasks 'nothing', 1, '[{"run_at":1}]'`,
    };
    expect(await refusal(open(), setup.dialect, calls)).toContain("name: unknown definition");
  });

  testWith(setup, "raw sql")("a caller that has looked at its members is spared it", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    const word = {
      postgres: `enqueue_tasks('demo', 1, '[{"run_at":1}]', p_is_checked => true)`,
      mssql: `EnqueueTasks 'demo', 1, '[{"run_at":1}]', @IsChecked = 1`,
    };
    if (setup.dialect === "mssql") await answerOf(opened, word.mssql);
    else await opened.call(`select * from taskgate.${word.postgres}`);
    expect(await statusOf(opened.store, "demo")).toMatchObject({ ready: 1 });
  });

  testWith(setup, "raw sql")("enqueue_tasks takes keys that look like JSON", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    const entry = { kind: "{k}", group: "[g]", dedupeKey: '{"a":1}', payload: '{"a":{}}' };
    await ask(opened, enqueue, "demo", JSON.stringify([entry]));
    const { tasks } = await opened.store.listTasks({ name: "demo", state: "scheduled", max: 10 });
    expect(tasks).toMatchObject([{ kind: "{k}" }]);
  });
}

/** What a call says that is refused; its values stand in it. */
async function refusal(
  opened: TestStore,
  dialect: StoreDialect,
  calls: { postgres: string; mssql: string },
): Promise<string> {
  if (dialect === "mssql") return String((await errorOf(opened, calls.mssql))["message"]);
  return opened.call(`select * from taskgate.${calls.postgres}`).then(
    () => "not refused",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

function describeAudit(setup: StoreSetup): void {
  const open = useStore(setup);
  const id = "00000000-0000-4000-8000-000000000001";
  const who = "w".repeat(201);
  const why = "y".repeat(401);
  const calls: readonly [postgres: string, mssql: string, values: string][] = [
    ["pause_definition", "PauseDefinition", "'demo'"],
    ["resume_definition", "ResumeDefinition", "'demo'"],
    ["set_limit", "SetLimit", `'demo', 1, '${id}'`],
    ["set_rate", "SetRate", "'demo', 1, 1000, 1"],
    ["set_shared_limit", "SetSharedLimit", `'x', 1, '${id}'`],
    ["set_definition_owner", "SetDefinitionOwner", "'demo', 'a'"],
    ["set_group", "SetGroup", "'demo', 'g', null, 1, null, null"],
    ["set_schedule_paused", "SetSchedulePaused", "'demo', 's', null, null"],
    ["set_stop", "SetStop", "null"],
    ["set_watermark", "SetWatermark", `'demo', 'm', '{}', null, '${id}'`],
  ];

  test("an actor and a reason are refused by every store when they are too long, and kept whole otherwise", async () => {
    const { store } = open();
    const name = await define(store);
    const longest = { changedBy: who.slice(1), reason: why.slice(1) };
    const tasks = { taskIds: [await enqueueOne(store, name)] };
    const all = [
      (by: typeof longest) => store.pauseDefinition({ name, ...by }),
      (by: typeof longest) => store.setLimit({ name, limit: 2, operationId: operationId(), ...by }),
      (by: typeof longest) =>
        store.setGroup({ name, groupKey: "g", groupScope: "definition", slots: 2, ...by }),
    ];
    for (const call of all) {
      const refused = { code: "TASKGATE_ARG_INVALID" } as const;
      const tooLong = { ...longest, changedBy: who };
      await expectError(call(tooLong), { ...refused, field: "changedBy", value: who });
      await expectError(call({ ...longest, reason: why }), { ...refused, field: "reason" });
      await call(longest);
    }
    const cancel = { ...tasks, reason: why };
    await expectError(store.cancelTasks(cancel), { code: "TASKGATE_ARG_INVALID", field: "reason" });
    await store.cancelTasks({ ...tasks, reason: longest.reason });
    expect((await factsOf(store, at(tasks.taskIds, 0))).error).toBe(longest.reason);
  });

  testWith(setup, "raw sql")(
    "an actor and a reason are refused when they are too long, by name",
    async () => {
      const opened = open();
      await define(opened.store, {}, "demo");
      const said = (postgres: string, mssql: string): Promise<string> =>
        refusal(opened, setup.dialect, { postgres, mssql });
      for (const [postgres, mssql, values] of calls) {
        expect(
          await said(`${postgres}(${values}, '${who}')`, `${mssql} ${values}, N'${who}'`),
        ).toBe(`changed_by: expected at most 200 characters (${who})`);
        for (const none of ["", "  "]) {
          expect(
            await said(`${postgres}(${values}, '${none}')`, `${mssql} ${values}, N'${none}'`),
          ).toBe(`changed_by: expected a name, or null for the login (${none})`);
        }
        const both = `${values}, 'me', '${why}'`;
        expect(await said(`${postgres}(${both})`, `${mssql} ${both}`)).toBe(
          `reason: expected at most 400 characters (${why})`,
        );
      }
      expect(await said(`cancel_tasks('{1}', '${why}')`, `CancelTasks N'[1]', N'${why}'`)).toBe(
        `reason: expected at most 400 characters (${why})`,
      );
      const schedules = `'demo', 1, '[]', '${who}'`;
      expect(await said(`set_schedules(${schedules})`, `SetSchedules ${schedules}`)).toBe(
        `changed_by: expected at most 200 characters (${who})`,
      );
    },
  );

  testWith(setup, "raw sql")("a caller that names no actor is told by its login", async () => {
    const opened = open();
    await define(opened.store, {}, "demo");
    const run = (postgres: string, mssql: string): Promise<unknown> =>
      setup.dialect === "mssql"
        ? answerOf(opened, mssql)
        : opened.call(`select * from taskgate.${postgres}`);
    const { store } = opened;
    await store.setSharedLimit({
      ...{ name: "x", limit: 2, operationId: operationId(), changedBy: "me" },
    });
    const address = { queueUri: null, queue: "q", encoding: "none", sweepSchedule: null } as const;
    await store.registerApp({ app: "a", definitions: [], address });
    const schedule = { name: "s", kind: "k", cron: "0 0 * * *", timeZone: "UTC", missed: "skip" };
    const settable: readonly [postgres: string, mssql: string, values: string][] = [
      ...calls.filter(([name]) => name !== "set_schedule_paused" && name !== "set_stop"),
      ["set_schedules", "SetSchedules", `'demo', 1, '${JSON.stringify([schedule])}'`],
      ["set_schedule_paused", "SetSchedulePaused", "'demo', 's', '1', null"],
      ["set_stop", "SetStop", "'1'"],
    ];
    const registered = `'other', 1, 'h', null, 2, 60000, 5, 3, 1, 1, 1, 1, '0', 1, 1`;
    await run(`register_definition(${registered})`, `RegisterDefinition ${registered}`);
    for (const [postgres, mssql, values] of settable) {
      const own = values.replace(id, operationId());
      await run(`${postgres}(${own}, null)`, `${mssql} ${own}, NULL`);
    }
    const { entries } = await opened.store.listAudit({ max: 100 });
    const unnamed = entries.filter(({ actor }) => actor.startsWith("sql:"));
    expect(new Set(unnamed.map(({ action }) => action))).toEqual(
      new Set(["register_definition", ...settable.map(([name]) => name)]),
    );
  });

  testWith(setup, "raw sql")("a heartbeat's first bad entry is named, by its place", async () => {
    const opened = open();
    const lists: readonly [list: string, says: string][] = [
      [
        '[{"execution":1},{"execution":1,"start":"x","started":["y"]},{"execution":1,"start":"z"}]',
        "executions[1].start: expected a UUID (x)",
      ],
      ['[{"execution":"z","start":"x"}]', "executions[0].execution: expected an id (z)"],
      ['[{"execution":1,"start":""}]', "executions[0].start: expected a UUID ()"],
      ['[{"execution":1,"started":["y"]}]', "executions[0].started: expected ids (y)"],
    ];
    for (const [list, says] of lists) {
      const calls = { postgres: `heartbeat('${list}')`, mssql: `Heartbeat N'${list}'` };
      expect([list, await refusal(opened, setup.dialect, calls)]).toEqual([list, says]);
    }
  });

  testWith(setup, "raw sql")("a heartbeat of something else is refused, too", async () => {
    const opened = open();
    for (const list of ["[1]", "[[]]", '[{"execution":"1"},null]', "[]", "{}"]) {
      const calls = { postgres: `heartbeat('${list}')`, mssql: `Heartbeat N'${list}'` };
      expect([list, await refusal(opened, setup.dialect, calls)]).toEqual([
        list,
        "executions: expected a JSON array of 1..1000 entries",
      ]);
    }
  });
}
