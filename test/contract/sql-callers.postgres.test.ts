import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import type { QueryResult, QueryResultRow } from "pg";
import { roleOfSql, urlAs } from "../support/roles";
import type { Role } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";

/**
 * People also call the functions in plain SQL, past the checks of TypeScript: SQL checks everything again, says the
 * same, and changes nothing. Each row is one call and the error that it must raise.
 */
let owner: Client;
let clients: Readonly<Record<Role, Client>>;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase();
  drop = database.drop;
  const clientOf = (url: string): Client => new Client({ connectionString: url });
  owner = clientOf(database.url);
  clients = {
    worker: clientOf(urlAs(database.url, "worker")),
    operator: clientOf(urlAs(database.url, "operator")),
  };
  await Promise.all([owner, clients.worker, clients.operator].map((client) => client.connect()));
  await register();
});

afterAll(async () => {
  await Promise.all([owner, clients.worker, clients.operator].map((client) => client.end()));
  await drop();
});

/** Calls as the login with the least rights that suffice. */
function call<Row extends QueryResultRow>(statement: string): Promise<QueryResult<Row>> {
  return clients[roleOfSql(statement)].query<Row>(statement);
}

beforeEach(async () => {
  await clients.worker.query("rollback");
});

const settings = {
  name: "'demo'",
  build: "1",
  hash: "'h'",
  by: "'me'",
  limit: "2",
  lease_ms: "60000",
  retry_attempts: "5",
  lost_max: "3",
  retry_base_ms: "1000",
  retry_cap_ms: "300000",
  prefetch_max: "1",
  group_slots: "1",
  group_strict: "false",
  retain_done_ms: "1000",
  retain_dead_ms: "1000",
};

async function register(changes: Partial<typeof settings> = {}): Promise<void> {
  const values = Object.values({ ...settings, ...changes }).join(", ");
  await call(`select * from taskgate.register_definition(${values})`);
}

const badSettings: { changes: Partial<typeof settings>; says: RegExp }[] = [
  { changes: { name: "null" }, says: /^name: .*\(null\)$/ },
  { changes: { name: "''" }, says: /^name: expected 1\.\.200 characters/ },
  { changes: { name: "' x'" }, says: /^name: .*\( x\)$/ },
  { changes: { name: "repeat('n', 201)" }, says: /^name: .*\(n{201}\)$/ },
  { changes: { build: "null" }, says: /^build: .*\(null\)$/ },
  { changes: { build: "-1" }, says: /^build: .*\(-1\)$/ },
  { changes: { hash: "null" }, says: /^settings_hash: .*\(null\)$/ },
  { changes: { hash: "repeat('h', 65)" }, says: /^settings_hash: .*\(h+\)$/ },
  { changes: { by: "' '" }, says: /^registered_by: expected 1\.\.200 characters.*\( \)$/ },
  { changes: { by: "repeat('b', 201)" }, says: /^registered_by: .*\(b{201}\)$/ },
  { changes: { limit: "-2" }, says: /^limit: .*\(-2\)$/ },
  { changes: { limit: "1001" }, says: /^limit: .*\(1001\)$/ },
  { changes: { limit: "null" }, says: /^limit: .*\(null\)$/ },
  { changes: { lease_ms: "999" }, says: /^lease_ms: .*\(999\)$/ },
  { changes: { lease_ms: "null" }, says: /^lease_ms: .*\(null\)$/ },
  { changes: { retry_attempts: "0" }, says: /^retry_attempts: .*\(0\)$/ },
  { changes: { retry_attempts: "40000" }, says: /^retry_attempts: .*\(40000\)$/ },
  { changes: { lost_max: "-1" }, says: /^lost_max: .*\(-1\)$/ },
  { changes: { retry_base_ms: "-1" }, says: /^retry_base_ms: .*\(-1\)$/ },
  { changes: { retry_cap_ms: "999" }, says: /^retry_cap_ms: .*\(999\)$/ },
  { changes: { prefetch_max: "1001" }, says: /^prefetch_max: .*\(1001\)$/ },
  { changes: { group_slots: "0" }, says: /^group_slots: .*\(0\)$/ },
  { changes: { group_strict: "null" }, says: /^group_strict: .*\(null\)$/ },
  { changes: { retain_done_ms: "-1" }, says: /^retain_done_ms: .*\(-1\)$/ },
  { changes: { retain_dead_ms: "null" }, says: /^retain_dead_ms: .*\(null\)$/ },
];

const operation = "'00000000-0000-4000-8000-000000000001'";

/** The task list of an enqueue with one bad entry. */
function enqueue(entry: string): string {
  return `select * from taskgate.enqueue_tasks('demo', 1, '[{}, ${entry}]')`;
}

/** The escape of U+0000 in JSON. */
const nul = String.raw`\u0000`;

const badCalls: { call: string; code: string; says: RegExp }[] = [
  ...["kind", "group", "dedupeKey", "trace", "payload", "runAt", "priority"].map((field) => ({
    call: enqueue(`{"${field}":"a${nul}b"}`),
    code: "TG422",
    says: new RegExp(String.raw`^tasks\[1\]\.${field}: expected a text without U\+0000`),
  })),
  ...[
    [`set_schedules('demo', 1, '[{"name":"a${nul}"}]', 'me')`, /^schedules: expected a JSON array/],
    [`heartbeat('[{"execution":"${nul}"}]')`, /^executions: expected a JSON array/],
    [`register_app('a', '["${nul}"]', null)`, /^definitions: expected a JSON array/],
    ...["cancel_tasks(", "redrive_tasks(", "reschedule_tasks("].map((name) => [
      `${name}array[[1, 2], [3, 4]]${name.startsWith("res") ? ", 1, null" : ""})`,
      /^task_ids: expected 1\.\.1000 ids/,
    ]),
    // Nested deeper than the server's stack allows.
    ["enqueue_tasks('demo', 1, repeat('[', 100000))", /^tasks: expected a JSON array/],
    [
      `enqueue_tasks('demo', 1, '[{"payload":"' || repeat('[', 32000) || repeat(']', 32000) || '"}]')`,
      /^tasks\[0\]\.payload: expected the text/,
    ],
    [`enqueue_tasks('demo', 1, '[{"run_at":1}]')`, /^tasks\[0\]: expected no members but .*run_at/],
    ["heartbeat(repeat('[', 100000))", /^executions: expected a JSON array/],
  ].map(([text, says]) => ({
    call: `select * from taskgate.${String(text)}`,
    code: "TG422",
    says: says as RegExp,
  })),
  ...["'{}'", "null", "'{1,null}'"].flatMap((ids) =>
    [`cancel_tasks(${ids})`, `reschedule_tasks(${ids}, 1, null)`].map((call) => ({
      call: `select * from taskgate.${call}`,
      code: "TG422",
      says: /^task_ids: expected 1\.\.1000 ids/,
    })),
  ),
  {
    call: "select * from taskgate.redrive_tasks('{}')",
    code: "TG422",
    says: /^task_ids: expected 1\.\.1000 ids \(0\)$/,
  },
  {
    call: "select * from taskgate.redrive_tasks('{1}', 'demo')",
    code: "TG422",
    says: /^name: expected either task_ids or a filter/,
  },
  {
    call: "select * from taskgate.redrive_tasks(null, 'demo', null, 'done', 1)",
    code: "TG422",
    says: /^outcome: .*\(done\)$/,
  },
  {
    call: "select * from taskgate.redrive_tasks(null, 'demo')",
    code: "TG422",
    says: /^max: .*\(<NULL>\)$/,
  },
  {
    call: "select * from taskgate.redrive_tasks(null, 'x', null, null, 1)",
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  ...["null, null", "1, '2026-01-31T08:30:00Z'"].map((when) => ({
    call: `select * from taskgate.reschedule_tasks('{1}', ${when})`,
    code: "TG422",
    says: /^run_at: expected either run_at or run_in_ms$/,
  })),
  {
    call: "select * from taskgate.reschedule_tasks('{1}', null, 'one day')",
    code: "TG422",
    says: /^run_at: expected an ISO-8601 instant with its zone \(one day\)$/,
  },
  {
    call: "select * from taskgate.reschedule_tasks('{1}', -1, null)",
    code: "TG422",
    says: /^run_in_ms: .*\(-1\)$/,
  },
  ...[
    ["'demo', ' g', null, 1", "TG422", /^group_key: .*\( g\)$/],
    ["'demo', null, null, 1", "TG422", /^group_key: .*\(<NULL>\)$/],
    ["'demo', 'g', 'all', 1", "TG422", /^group_scope: .*\(all\)$/],
    ["'demo', 'g', null, 0", "TG422", /^slots: .*\(0\)$/],
    ["'x', 'g', null, 1", "TG404", /^name: .*\(x\)$/],
  ].map(([values, code, says]) => ({
    call: `select * from taskgate.set_group(${String(values)}, null, null, 'me')`,
    code: String(code),
    says: says as RegExp,
  })),
  {
    call: "select * from taskgate.list_groups('x', null, 1)",
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  {
    call: "select * from taskgate.list_groups(null, null, 0)",
    code: "TG422",
    says: /^max: .*\(0\)$/,
  },
  {
    call: "select * from taskgate.list_shared_limits(null, 0)",
    code: "TG422",
    says: /^max: .*\(0\)$/,
  },
  {
    call: `select * from taskgate.set_limit('demo', -2, ${operation}, 'me')`,
    code: "TG422",
    says: /^limit: .*\(-2\)$/,
  },
  {
    call: `select * from taskgate.set_limit('x', 1, ${operation}, 'me')`,
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  {
    call: "select * from taskgate.pause_definition('x', 'me')",
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  {
    call: "select * from taskgate.resume_definition('x', 'me')",
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  {
    call: `select * from taskgate.start_execution('demo', ${operation}, 'w', 1, 'h', 0, false)`,
    code: "TG422",
    says: /^want: .*\(0\)$/,
  },
  {
    call: `select * from taskgate.start_execution('demo', ${operation}, 'w', 1, 'h', 1001, false)`,
    code: "TG422",
    says: /^want: .*\(1001\)$/,
  },
  {
    call: `select * from taskgate.start_execution('demo', ${operation}, '', 1, 'h', 1, false)`,
    code: "TG422",
    says: /^worker: .*\(\)$/,
  },
  { call: "select * from taskgate.acquire_tokens(1, 0)", code: "TG422", says: /^want: .*\(0\)$/ },
  { call: "select * from taskgate.release_tokens(1, -1)", code: "TG422", says: /^keep: .*\(-1\)$/ },
  {
    call: "select * from taskgate.release_surplus(1, -1)",
    code: "TG422",
    says: /^keep: .*\(-1\)$/,
  },
  {
    call: "select * from taskgate.work(1, 1, p_want => 1001)",
    code: "TG422",
    says: /^want: .*\(1001\)$/,
  },
  { call: "select * from taskgate.work(1, 0)", code: "TG422", says: /^call_number: .*\(0\)$/ },
  {
    call: "select * from taskgate.work(1, 1, array[1], array[1, 2]::bigint[])",
    code: "TG422",
    says: /^done_fences: /,
  },
  { call: "select * from taskgate.fail_tasks(1, null)", code: "TG422", says: /^failures: / },
  { call: "select * from taskgate.fail_tasks(1, '{}')", code: "TG422", says: /^failures: / },
  { call: "select * from taskgate.fail_tasks(1, '[]')", code: "TG422", says: /^failures: / },
  { call: "select * from taskgate.heartbeat('{}')", code: "TG422", says: /^executions: / },
  ...(
    [
      [
        '[{"execution":1},{"execution":"x%"}]',
        /^executions\[1\]\.execution: expected an id \(x%\)$/,
      ],
      ['[{"execution":""}]', /^executions\[0\]\.execution: expected an id \(\)$/],
      [
        '[{"execution":9223372036854775808}]',
        /^executions\[0\]\.execution: .*\(9223372036854775808\)$/,
      ],
      ['[{"execution":1,"started":[2,"y","z"]}]', /^executions\[0\]\.started: expected ids \(y\)$/],
    ] as const
  ).map(([entries, says]) => ({
    call: `select * from taskgate.heartbeat('${entries}')`,
    code: "TG422",
    says,
  })),
  { call: "select * from taskgate.heartbeat(null)", code: "TG422", says: /^executions: / },
  {
    call: "select * from taskgate.report_progress(1, 1, 1, -1, 1, null)",
    code: "TG422",
    says: /^done: .*-1/,
  },
  { call: "select * from taskgate.reclaim_expired(0)", code: "TG422", says: /^max: .*\(0\)$/ },
  {
    call: "select * from taskgate.promote_scheduled('demo', 0)",
    code: "TG422",
    says: /^max: .*\(0\)$/,
  },
  {
    call: "select * from taskgate.promote_scheduled('x', 1)",
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  { call: "select * from taskgate.sweep(0)", code: "TG422", says: /^max: .*\(0\)$/ },
  { call: "select * from taskgate.purge(1001)", code: "TG422", says: /^max: .*\(1001\)$/ },
  {
    call: "select * from taskgate.list_executions(null, true, 0)",
    code: "TG422",
    says: /^max: .*\(0\)$/,
  },
  {
    call: "select * from taskgate.list_tasks('demo', 'blocked', 1)",
    code: "TG422",
    says: /^state: .*\(blocked\)$/,
  },
  {
    call: "select * from taskgate.list_tasks('demo', 'ready', 1, 'x')",
    code: "TG422",
    says: /^after: .*\(x\)$/,
  },
  {
    call: "select * from taskgate.list_tasks('demo', 'ready', 1, p_look_max => 5001)",
    code: "TG422",
    says: /^look_max: .*\(5001\)$/,
  },
  {
    call: "select * from taskgate.list_tasks('demo', 'ready', 1, p_path => 'a-b', p_value => '1')",
    code: "TG422",
    says: /^path: .*\(a-b\)$/,
  },
  {
    call: "select * from taskgate.list_tasks('demo', 'ready', 1, p_value => '1')",
    code: "TG422",
    says: /^value: .*\(1\)$/,
  },
  {
    call: "select * from taskgate.list_tasks('demo', 'dead', 1, p_finished_since => 'now')",
    code: "TG422",
    says: /^finished_since: .*\(now\)$/,
  },
  {
    call: "select * from taskgate.list_tasks('x', 'ready', 1)",
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  {
    call: "select * from taskgate.enqueue_tasks('x', 1, '[{}]')",
    code: "TG404",
    says: /^name: .*\(x\)$/,
  },
  {
    call: "select * from taskgate.enqueue_tasks('demo', 1, null)",
    code: "TG422",
    says: /^tasks: /,
  },
  {
    call: "select * from taskgate.enqueue_tasks('demo', 1, '{}')",
    code: "TG422",
    says: /^tasks: .*\(\{\}\)$/,
  },
  {
    call: "select * from taskgate.enqueue_tasks('demo', 1, '[]')",
    code: "TG413",
    says: /^tasks: .*\(0\)$/,
  },
  {
    call: "select * from taskgate.enqueue_tasks('demo', 1, '[' || repeat('{},', 10000) || '{}]')",
    code: "TG413",
    says: /^tasks: .*\(10001\)$/,
  },
  {
    call: "select * from taskgate.enqueue_tasks('demo', 1, '[\"' || repeat('x', 8388608) || '\"]')",
    code: "TG413",
    says: /^tasks: .*\(8388612\)$/,
  },
  { call: enqueue('{"payload":"7"}'), code: "TG422", says: /^tasks\[1\]\.payload: .*\(7\)$/ },
  {
    call: enqueue('{"payload":"no json"}'),
    code: "TG422",
    says: /^tasks\[1\]\.payload: .*\(no json\)$/,
  },
  {
    call: `select * from taskgate.enqueue_tasks('demo', 1, '[{"payload":"[\\"' || repeat('x', 65533) || '\\"]"}]')`,
    code: "TG413",
    says: /^tasks\[0\]\.payload: .*\(65537\)$/,
  },
  { call: enqueue('{"kind":""}'), code: "TG422", says: /^tasks\[1\]\.kind: .*\(\)$/ },
  {
    call: enqueue('{"priority":40000}'),
    code: "TG422",
    says: /^tasks\[1\]\.priority: .*\(40000\)$/,
  },
  { call: enqueue('{"group":" g"}'), code: "TG422", says: /^tasks\[1\]\.group: .*\( g\)$/ },
  {
    call: enqueue('{"group":"g","groupScope":"x"}'),
    code: "TG422",
    says: /^tasks\[1\]\.groupScope: .*\(x\)$/,
  },
  { call: enqueue('{"runInMs":-1}'), code: "TG422", says: /^tasks\[1\]\.runInMs: .*\(-1\)$/ },
  {
    call: enqueue('{"runInMs":1,"runAt":"2030-01-01T00:00:00Z"}'),
    code: "TG422",
    says: /^tasks\[1\]\.runAt: /,
  },
  { call: enqueue('{"dedupeKey":"k "}'), code: "TG422", says: /^tasks\[1\]\.dedupeKey: .*\(k \)$/ },
  {
    call: enqueue('{"dedupeKey":"k","dedupeMs":0}'),
    code: "TG422",
    says: /^tasks\[1\]\.dedupeMs: .*\(0\)$/,
  },
  {
    call: `select * from taskgate.complete_task(1, 1, 1, 1, '"text"')`,
    code: "TG422",
    says: /^result/,
  },
  {
    call: "select * from taskgate.complete_task(1, 1, 1, 1, '[\"' || repeat('x', 65533) || '\"]')",
    code: "TG413",
    says: /^result.*\(65537\)$/,
  },
];

describe("a call in plain SQL", () => {
  for (const { changes, says } of badSettings) {
    test(`register_definition with ${JSON.stringify(changes)} raises TG422, naming field and value`, async () => {
      await expect(register({ ...changes })).rejects.toMatchObject({
        code: "TG422",
        message: expect.stringMatching(says),
      });
    });
  }

  for (const { call: statement, code, says } of badCalls) {
    test(`${statement.replace("select * from taskgate.", "")} raises ${code}, naming field and value`, async () => {
      await expect(call(statement)).rejects.toMatchObject({
        code,
        message: expect.stringMatching(says),
      });
    });
  }

  test("register_definition refuses rules and shared limits with U+0000", async () => {
    const values = Object.values({ ...settings, name: "'other'" }).join(", ");
    for (const [parameter, says] of [
      ["kinds", "kinds: expected a JSON array"],
      ["shared_limits", "shared_limits: expected a JSON array"],
    ] as const) {
      const text = `[{"name":"${nul}","kind":"${nul}"}]`;
      await expect(
        call(`select * from taskgate.register_definition(${values}, p_${parameter} => '${text}')`),
      ).rejects.toMatchObject({ code: "TG422", message: expect.stringContaining(says) });
    }
  });

  test("ids far below zero are of no task", async () => {
    const least = "-9223372036854775808";
    for (const [statement, row] of [
      [`explain_task(${least})`, { status: "unknown" }],
      [`complete_task(1, ${least}, 1)`, { status: "fenced" }],
      [`cancel_tasks('{${least}}')`, { status: "done" }],
    ] as const) {
      const { rows } = await call(`select * from taskgate.${statement}`);
      expect(rows).toMatchObject([row]);
    }
  });

  test("refused calls of plain SQL leave nothing behind", async () => {
    const { rows } = await owner.query(
      "select (select count(*)::int from taskgate.task) as tasks, (select count(*)::int from taskgate.operation) as operations",
    );
    expect(rows).toEqual([{ tasks: 0, operations: 0 }]);
  });

  test("a worker's role may call what workers need, and read no table", async () => {
    const client = clients.worker;
    await client.query("begin");
    const sweep = await client.query<{ status: string }>("select status from taskgate.sweep(10)");
    expect(sweep.rows).toEqual([{ status: "swept" }]);
    await client.query("select * from taskgate.v_execution_log");
    for (const forbidden of [
      "select * from taskgate.task",
      "update taskgate.task_definition set paused = true",
      `select * from taskgate.set_limit('demo', 1, ${operation}, 'me')`,
      "select taskgate._over_limit(1)",
    ]) {
      await client.query("savepoint s");
      await expect(client.query(forbidden)).rejects.toMatchObject({ code: "42501" });
      await client.query("rollback to savepoint s");
    }
    await client.query("rollback");
  });

  test("enqueue_tasks inside the caller's transaction comes and goes with it", async () => {
    const enqueued =
      'select task_ids from taskgate.enqueue_tasks(\'demo\', 1, \'[{"payload":"{}"},{"group":"g"}]\')';
    const count = async (): Promise<unknown> =>
      (await owner.query("select count(*)::int as n from taskgate.task")).rows[0];
    const client = clients.worker;
    await client.query("begin");
    await client.query(enqueued);
    await client.query("rollback");
    expect(await count()).toEqual({ n: 0 });
    await client.query("begin");
    await client.query(enqueued);
    await client.query("commit");
    expect(await count()).toEqual({ n: 2 });
  });

  test("enqueue_tasks without a build is of an unknown one", async () => {
    await call("select * from taskgate.enqueue_tasks('demo', null, '[{},{\"group\":\"g\"}]')");
    const { rows } = await owner.query("select distinct build::int from taskgate.task order by 1");
    expect(rows).toEqual([{ build: 0 }, { build: 1 }]);
  });
});
