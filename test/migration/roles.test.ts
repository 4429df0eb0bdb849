import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import "../support/node-errors";
import { asOperationId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { runCli } from "../../shared/cli/main";
import { operatorOperations } from "../../shared/store/missing-right";
import { checkStoreSchema, openStore } from "../../shared/store/open-store";
import { operations } from "../../shared/store/operations";
import { toSnakeCase } from "../../shared/store/operations/operation";
import type { OperationName } from "../../shared/store/operations";
import { at, done, failure, only, registration, startInput } from "../support/builders";
import { callExample, makeExampleRows } from "../support/example-input";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { rowsOf } from "./empty-database";

/*
 * Goal: least rights. A login that is a member of one role only does all that its work needs through the operations,
 * and can do nothing else: no table but the schema's version to read, no internal function, no operation of the other role.
 */
const forOperators = operatorOperations;
const forAll = (Object.keys(operations) as OperationName[]).filter(
  (name) => !forOperators.includes(name),
);
const insufficient = "42501";

/** One login with its own connections. */
interface Login {
  readonly url: string;
  readonly role: string;
  readonly store: TaskStore;
}

let owner = "";
let dropDatabase: () => Promise<void>;
const logins = new Map<"worker" | "operator" | "nobody", Login>();
const loginOf = (kind: "worker" | "operator" | "nobody"): Login => {
  const login = logins.get(kind);
  if (login === undefined) throw new Error(`no login for ${kind}`);
  return login;
};

beforeAll(async () => {
  const database = await createTestDatabase();
  owner = database.url;
  dropDatabase = database.drop;
  for (const kind of ["worker", "operator", "nobody"] as const) {
    const role = `test_${kind}_${String(process.pid)}`;
    const grant = kind === "nobody" ? "" : `in role taskgate_${kind}`;
    await rowsOf(owner, `create role ${role} login password 'of-the-test' ${grant}`);
    const url = new URL(owner);
    url.username = role;
    url.password = "of-the-test";
    const store = openStore({ url: url.toString(), connectionsMax: 2, random: realRandom, sleep });
    logins.set(kind, { url: url.toString(), role, store });
  }
});

afterAll(async () => {
  for (const login of logins.values()) await login.store.close();
  await dropDatabase();
  const server = process.env["TASKGATE_TEST_POSTGRES"];
  if (server === undefined) return;
  for (const login of logins.values()) await rowsOf(server, `drop role ${login.role}`);
});

/** The code of the error that a statement ends with; null when it succeeds. */
async function codeOf(login: Login, statement: string): Promise<string | null> {
  return withClient(login.url, async (client) => {
    try {
      await client.query(statement);
      return null;
    } catch (error) {
      return typeof error === "object" && error !== null && "code" in error
        ? String(error.code)
        : "?";
    }
  });
}

/** Calls every operation of a worker once, with an effect, or as its example; answers the status words. */
async function doAllWork(store: TaskStore, name: string): Promise<Record<string, string>> {
  const said: Record<string, string> = {};
  const note = (operation: OperationName, answer: { status: string }): void => {
    said[operation] = answer.status;
  };
  note("registerApp", await store.registerApp({ app: name, definitions: [name], address: null }));
  note("listApps", { status: String((await store.listApps()).apps.length > 0) });
  note("registerDefinition", await store.registerDefinition(registration({ name })));
  const tasks = ["1", "2", "3", "4"].map((n) => ({
    payload: `{"n":${n}}`,
    ...(n === "4" ? { runInMs: 1 } : {}),
  }));
  const enqueued = await store.enqueueTasks({
    name,
    build: 1,
    operationId: asOperationId(randomUUID()),
    tasks,
  });
  note("enqueueTasks", { status: String(enqueued.taskIds.length) });
  const started = await store.startExecution(startInput(name));
  note("startExecution", started);
  const executionId = started.executionId;
  if (executionId === null) throw new Error("no execution");
  note("acquireTokens", await store.acquireTokens({ executionId, want: 3 }));
  const answer = await store.work({ executionId, callNumber: 1, done: [], started: [], want: 3 });
  note("work", answer);
  const [first, second, third] = [
    at(answer.claimed, 0),
    at(answer.claimed, 1),
    at(answer.claimed, 2),
  ];
  note(
    "heartbeat",
    only(
      (await store.heartbeat({ executions: [{ executionId, started: [first.taskId] }] }))
        .executions,
    ),
  );
  note(
    "reportProgress",
    await store.reportProgress({
      executionId,
      taskId: first.taskId,
      fence: first.fence,
      done: 1,
      total: 2,
      text: "half",
    }),
  );
  note(
    "completeTask",
    await store.transaction((within) =>
      store.completeTask({ executionId, ...done(first) }, within),
    ),
  );
  note("failTasks", await store.failTasks({ executionId, failures: [failure(second)] }));
  await store.work({ executionId, callNumber: 2, done: [done(third)], started: [], want: 0 });
  note("releaseTokens", await store.releaseTokens({ executionId, keep: 1 }));
  note("releaseSurplus", await store.releaseSurplus({ executionId, keep: 0 }));
  const { batchId, waveIds } = await store.createBatch({
    operationId: asOperationId(randomUUID()),
    name,
    failurePolicy: "halt",
    waves: 1,
  });
  note("createBatch", { status: "created" });
  note("startBatch", await store.startBatch({ batchId, seal: true }));
  note("pumpBatch", await store.pumpBatch({ batchId, max: 1 }));
  note("listAudit", {
    status: String((await store.listAudit({ max: 1 })).entries.length),
  });
  note("listFailures", {
    status: String((await store.listFailures({ max: 1 })).lookedAt),
  });
  note("listStopped", {
    status: String((await store.listStopped({ max: 1 })).definitions.length),
  });
  note("readPace", {
    status: String((await store.readPace({ name, max: 1 })).ended),
  });
  note("rollUpStatistics", await store.rollUpStatistics({ max: 1 }));
  note("readStatistics", {
    status: String((await store.readStatistics({ name, grain: 1, max: 1 })).periods.length),
  });
  note("listBatches", {
    status: String((await store.listBatches({ max: 1 })).batches.length),
  });
  note(
    "advanceWatermark",
    await store.advanceWatermark({
      name,
      watermark: "by-id",
      expectedVersion: "0",
      value: "[1]",
      build: 1,
      tasks: [{ payload: null, runInMs: 3_600_000 }],
      operationId: asOperationId(randomUUID()),
    }),
  );
  note("listWatermarks", {
    status: String((await store.listWatermarks({ name, max: 5 })).watermarks.length),
  });
  note("finishExecution", await store.finishExecution({ executionId }));
  note("promoteScheduled", await store.promoteScheduled({ name, max: 10 }));
  note("reclaimExpired", await store.reclaimExpired({ max: 10 }));
  note("sweep", { status: String((await store.sweep({ max: 10 })).expired) });
  note("purge", await store.purge({ max: 10 }));
  note("listDefinitions", {
    status: String((await store.listDefinitions({})).definitions.length > 0),
  });
  note("listExecutions", {
    status: String((await store.listExecutions({ isOpen: false, max: 5 })).executions.length > 0),
  });
  note("listTasks", {
    status: String((await store.listTasks({ name, state: "done", max: 5 })).tasks.length),
  });
  note("listGroups", {
    status: String((await store.listGroups({ name, max: 5 })).groups.length),
  });
  note("listSharedLimits", {
    status: String((await store.listSharedLimits({ max: 5 })).sharedLimits.length),
  });
  const dueAt = new Date("2020-01-01T00:00:00Z");
  const schedule = { kind: name, cron: "* * * * *", timeZone: "UTC", missed: "once" } as const;
  const rest = { name: "nightly", payload: null, group: null, nextRunAt: dueAt };
  const schedules = [{ ...schedule, ...rest }];
  note("setSchedules", await store.setSchedules({ name, build: 1, changedBy: "me", schedules }));
  const [listed] = (await store.listSchedules({ name, max: 1 })).schedules;
  note("listSchedules", { status: String(listed?.name) });
  const fire = { scheduleId: listed?.id ?? 0, expectedRunAt: dueAt, runAts: [], nextRunAt: null };
  note("fireSchedule", await store.fireSchedule(fire));
  note("explainTask", await store.explainTask({ taskId: first.taskId }));
  const rows = { name, executionId, ...first, batchId, waveId: at(waveIds, 0) };
  for (const operation of forAll.filter((one) => said[one] === undefined)) {
    await callExample(store, operation, rows);
    note(operation, { status: "answered" });
  }
  return said;
}

describe.each(["worker", "operator"] as const)("a login with only taskgate_%s", (kind) => {
  test("the login runs every operation of a worker", async () => {
    const said = await doAllWork(loginOf(kind).store, `work-of-${kind}`);

    expect(Object.keys(said).sort()).toEqual([...forAll].sort());
    expect(said).toMatchObject({
      registerDefinition: "created",
      enqueueTasks: "4",
      startExecution: "started",
      heartbeat: "renewed",
      reportProgress: "done",
      completeTask: "done",
      explainTask: "found",
      setSchedules: "set",
      listSchedules: "nightly",
      fireSchedule: "fired",
      listTasks: "2",
    });
  });

  test("the login can't read or write any table, nor take a number of a sequence", async () => {
    const login = loginOf(kind);
    const tables = await rowsOf<{ name: string; kind: string; column: string }>(
      owner,
      `select c.relname as name, c.relkind as kind, (select attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and a.attidentity = '' order by a.attnum limit 1) as column
         from pg_class c where c.relnamespace = 'taskgate'::regnamespace and c.relkind in ('r', 'S')`,
    );
    expect(tables.length).toBeGreaterThan(20);
    const open: string[] = [];
    for (const { name, kind: relation, column } of tables) {
      const table = `taskgate.${name}`;
      const statements =
        relation === "S"
          ? [`select nextval('${table}')`, `select setval('${table}', 1)`, `select * from ${table}`]
          : [
              `select 1 from ${table}`,
              `insert into ${table} default values`,
              `update ${table} set ${column} = ${column}`,
              `delete from ${table}`,
              `truncate ${table}`,
              `do $$ begin lock table ${table}; end $$`,
              `select 1 from ${table} for update`,
              `drop table ${table}`,
              `alter table ${table} add x int`,
            ];
      const codes = await withClient(login.url, async (client) => {
        const seen: string[] = [];
        for (const statement of statements) {
          seen.push(
            await client.query(statement).then(
              () => "succeeded",
              (error: unknown) =>
                typeof error === "object" && error !== null && "code" in error
                  ? String(error.code)
                  : "?",
            ),
          );
        }
        return seen;
      });
      statements.forEach((statement, index) => {
        if (statement === "select 1 from taskgate.schema_version") return;
        if (codes[index] !== insufficient) open.push(`${statement}: ${String(codes[index])}`);
      });
    }
    expect(open).toEqual([]);
  });

  test("the login can't call an internal function, nor make anything in the schema", async () => {
    const internal = await rowsOf<{ name: string }>(
      owner,
      `select p.oid::regprocedure::text as name from pg_proc p
        where pronamespace = 'taskgate'::regnamespace and proname like '\\_%' and has_function_privilege('${loginOf(kind).role}', p.oid, 'execute')`,
    );
    expect(internal).toEqual([]);
    for (const statement of [
      "select taskgate._now()",
      "create table taskgate.x (a int)",
      "create function taskgate.x() returns int language sql as 'select 1'",
      "drop schema taskgate cascade",
      "set role taskgate_owner_of_all",
    ])
      expect([
        statement,
        [insufficient, "22023"].includes((await codeOf(loginOf(kind), statement)) ?? ""),
      ]).toEqual([statement, true]);
  });

  test("the login knows whether the schema fits", async () => {
    const { url } = loginOf(kind);
    await expect(checkStoreSchema({ url })).resolves.toBeUndefined();
    const lines: string[] = [];
    const output = {
      line: (text: string) => lines.push(text),
      error: (text: string) => lines.push(text),
      columns: null,
    };
    const cli = (...words: string[]) =>
      runCli({ words: [...words, "--db", url], environment: {}, folder: "/", output });

    expect(await cli("migrate", "--check")).toBe(0);
    expect(await cli("doctor")).toBe(0);
    expect(lines.join("\n")).toMatch(
      /fits Taskgate [\s\S]*ok +schema: The schema fits this version\./,
    );
  });

  test("the login reads the execution log", async () => {
    expect(await codeOf(loginOf(kind), "select * from taskgate.v_execution_log")).toBeNull();
    expect(await codeOf(loginOf(kind), "delete from taskgate.v_execution_log")).not.toBeNull();
  });
});

describe("operations of operators", () => {
  const someBatch =
    "(select (b ->> 'batch')::bigint from json_array_elements((taskgate.list_batches(null, null, 1)).batches::json) b)";
  const calls: Readonly<Record<string, string>> = {
    setLimit: `taskgate.set_limit('work-of-operator', 3, '${randomUUID()}', 'an operator')`,
    setDefinitionOwner:
      "taskgate.set_definition_owner('work-of-operator', 'billing', 'an operator')",
    setStop: "taskgate.set_stop(false, 'an operator')",
    setRate: "taskgate.set_rate('work-of-operator', 5, 1000, 1, 'an operator')",
    setSharedLimit: `taskgate.set_shared_limit('shared', 3, '${randomUUID()}', 'an operator')`,
    pauseDefinition: "taskgate.pause_definition('work-of-operator', 'an operator')",
    resumeDefinition: "taskgate.resume_definition('work-of-operator', 'an operator')",
    resumeBatch: `taskgate.resume_batch(${someBatch})`,
    cancelBatch: `taskgate.cancel_batch(${someBatch})`,
    checkInvariants: "taskgate.check_invariants()",
    cancelTasks: "taskgate.cancel_tasks('{1}')",
    redriveTasks: "taskgate.redrive_tasks('{1}')",
    rescheduleTasks: "taskgate.reschedule_tasks('{1}', 0, null)",
    setSchedulePaused:
      "taskgate.set_schedule_paused('work-of-operator', 'nightly', true, null, 'an operator')",
    setWatermark: `taskgate.set_watermark('work-of-operator', 'w', '[1]', null, '${randomUUID()}', 'an operator')`,
    setGroup: "taskgate.set_group('work-of-operator', 'g', null, 1, null, null, 'an operator')",
  };

  test.each(forOperators.filter((name) => calls[name] !== undefined))(
    "the operation %s is refused to a worker (42501), and open to an operator",
    async (name) => {
      const statement = `select * from ${calls[name] ?? ""}`;
      expect(await codeOf(loginOf("worker"), statement)).toBe(insufficient);
      expect(await codeOf(loginOf("operator"), statement)).toBeNull();
    },
  );

  const others = forOperators.filter((name) => calls[name] === undefined);
  if (others.length > 0)
    test.each(others)(
      "the example of %s is refused to a worker, and open to an operator",
      async (name) => {
        const rows = await makeExampleRows(loginOf("worker").store);
        const call = (kind: "worker" | "operator") => callExample(loginOf(kind).store, name, rows);
        await expect(call("worker")).rejects.toMatchObject({ code: "TASKGATE_STORE_FORBIDDEN" });
        await call("operator");
      },
    );

  test("an operator's operation through a worker's store is an error that names the missing role", async () => {
    const attempt = loginOf("worker").store.setLimit({
      name: "work-of-worker",
      limit: 3,
      operationId: asOperationId(randomUUID()),
      changedBy: "a worker",
    });
    await expect(attempt).rejects.toMatchObject({
      code: "TASKGATE_STORE_FORBIDDEN",
      message:
        "The database refuses this to the login (permission denied for function set_limit). Only operators may do that: as owner of the schema run `grant taskgate_operator to LOGIN`.",
    });
  });

  test("the roles' rights are those of the table, no more and no less", async () => {
    const rows = await rowsOf<{ name: string; worker: boolean; operator: boolean }>(
      owner,
      `select proname as name, has_function_privilege('taskgate_worker', oid, 'execute') as worker,
              has_function_privilege('taskgate_operator', oid, 'execute') as operator
         from pg_proc where pronamespace = 'taskgate'::regnamespace and proname not like '\\_%' order by proname`,
    );
    expect(rows).toEqual(
      [...forAll, ...forOperators]
        .map((name) => ({
          name: toSnakeCase(name),
          worker: !forOperators.includes(name),
          operator: true,
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    );
  });
});

describe("a login without any role", () => {
  test("a login without any role can't even look into the schema", async () => {
    for (const statement of [
      "select * from taskgate.list_definitions(null)",
      "select * from taskgate.v_execution_log",
      "select * from taskgate.task",
    ])
      expect(await codeOf(loginOf("nobody"), statement)).toBe(insufficient);
  });

  test("a login without any role hears which role it lacks, and not that it should migrate a current schema", async () => {
    const { url, store } = loginOf("nobody");
    const refusal = {
      code: "TASKGATE_STORE_FORBIDDEN",
      message: expect.stringMatching(
        /^The database refuses this to the login \(permission denied for schema taskgate\)\. As owner of the schema run `grant taskgate_worker to LOGIN` for an app, `grant taskgate_operator to LOGIN` for people\./,
      ) as unknown,
    };
    await expect(store.listDefinitions({})).rejects.toMatchObject(refusal);
    await expect(checkStoreSchema({ url })).rejects.toMatchObject(refusal);
  });

  test("a login that may not even connect hears which right of the database it lacks", async () => {
    const { url } = loginOf("nobody");
    const database = new URL(url).pathname.slice(1);
    await rowsOf(owner, `revoke connect on database ${database} from public`);
    await expect(checkStoreSchema({ url })).rejects.toMatchObject({
      code: "TASKGATE_STORE_FORBIDDEN",
      message: expect.stringContaining(
        `As owner of the database run \`grant connect on database "${database}" to LOGIN\`; the login of`,
      ) as unknown,
    });
    await rowsOf(owner, `grant connect on database ${database} to public`);
  });
});
