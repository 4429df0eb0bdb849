import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { globSync } from "tinyglobby";
import { define, enqueue, idsOf, operationId, startWorker } from "../../support/builders";
import { within } from "../../support/gate";
import { holdTransaction } from "../postgres-stage";
import type { Scene } from "../scene";
import type { TsqlStage } from "../tsql-stage";

/* What the model of SQL Server tells of locks and of the ways to rows; the rest stands in test/tsql/source-texts. */
const work = "mssql/sql/procedures/Work.sql";
const migrations = join(__dirname, "../../../shared/store/mssql/sql/migrations");

async function showOneReference(stage: TsqlStage): Promise<void> {
  const store = stage.openStore(1);
  const name = await define(store, { limit: 20, prefetchMax: 0 });
  await enqueue(store, name, 50);
  const worker = await startWorker(store, name, { want: 10 });
  const tasks = await worker.claim(5);
  const scans: string[] = [];
  stage.world.onScan = ({ schema }) => void scans.push(schema.name);
  const { claimed } = await worker.complete(tasks, 5);
  stage.world.onScan = undefined;
  expect(claimed).toHaveLength(5);
  expect({ looks: scans.filter((table) => table === "Ready").length }).toEqual({ looks: 1 });
}

/** Tables on which the present transactions hold keys, and locks of whole tables that keep others out. */
function locksOf({ world }: TsqlStage): { tables: string[]; whole: string[] } {
  const lines = world.locks.describe();
  const tables = lines.flatMap((line) => /KEY Taskgate\.(\w+)\./.exec(line)?.[1] ?? []);
  return {
    tables: [...new Set(tables)].toSorted(),
    whole: lines.filter((line) => /^\d+ (?!IS |IX )\S+ (?:OBJECT|TABLE|PAGE|HOBT)/.test(line)),
  };
}

/** Tables whose locks never become one of the whole table. */
function keptApart(): string[] {
  const text = globSync(["*.sql"], { cwd: migrations })
    .map((file) => readFileSync(join(migrations, file), "utf8"))
    .join("\n");
  return [...text.matchAll(/ALTER TABLE Taskgate\.(\w+) SET \(LOCK_ESCALATION = DISABLE\)/g)].map(
    (match) => match[1] ?? "",
  );
}

async function showNoEscalation(stage: TsqlStage): Promise<void> {
  const name = await define(stage.plain, { limit: 1_000, prefetchMax: 0 });
  const ids = await enqueue(stage.plain, name, 1_010);
  const first = await startWorker(stage.openStore(1), name, { want: 990 });
  const second = await startWorker(stage.openStore(1), name, { want: 10 });
  const open = await stage.openClaim(first, 990);
  const { tables, whole } = locksOf(stage);
  expect(tables).toContain("Ready");
  expect({ whole }).toEqual({ whole: [] });
  // A statement takes a thousand rows at most; a transaction of several statements keeps row locks.
  const many = tables.filter((table) => ["Ready", "Claim", "Task"].includes(table));
  expect(many.filter((table) => !keptApart().includes(table))).toEqual([]);
  expect(idsOf(await within(1_500, second.claim(10)))).toEqual(ids.slice(990, 1_000));
  await open.commit();
}

async function showApplicationLocks(stage: TsqlStage): Promise<void> {
  const store = stage.openStore(3);
  const name = await define(store);
  const input = (dedupeKey: string) => ({
    name,
    build: 1,
    operationId: operationId(),
    tasks: [{ payload: null, dedupeKey }],
  });
  const { held } = await holdTransaction(stage.openStore(1), (transaction) =>
    store.enqueueTasks(input("k"), transaction),
  );
  const equal = store.enqueueTasks(input("k")).then(
    () => "enqueued",
    (error: unknown) => `${String(error)} ${String((error as Error).cause)}`,
  );
  try {
    expect((await within(1_500, store.enqueueTasks(input("other")))).outcomes).toEqual([
      "enqueued",
    ]);
    // The status of the lock is checked: no call goes on without it, and none waits for ever.
    expect(await within(3_500, equal)).toContain("locked for longer than 2 s");
  } finally {
    await held.commit();
  }
  expect((await store.enqueueTasks(input("k"))).outcomes).toEqual(["duplicate"]);
  const left = stage.world.connections.flatMap(({ appLocks }) => [...appLocks.keys()]);
  expect({ left }).toEqual({ left: [] });
}

const claimOnce = `              DELETE FROM NextReady
              OUTPUT deleted.Priority, deleted.Rank, deleted.TaskId, deleted.IsSolo INTO @vTaken (Priority, Rank, TaskId, IsSolo)
              OPTION (MAXDOP 1, KEEPFIXED PLAN, OPTIMIZE FOR (@vMax = 100));`;

export const tsqlLockScenes: readonly Scene<TsqlStage>[] = [
  {
    numbers: "S2.2",
    title: "a claim looks for its tasks once, in the model",
    on: ["mssql"],
    play: showOneReference,
    faults: [
      {
        numbers: "S2.2",
        what: "a claim finds its tasks, and then looks for them again by their keys",
        planted: {
          mssql: {
            file: work,
            edits: [
              {
                from: claimOnce,
                to: claimOnce.replace("DELETE FROM NextReady", "DELETE d").replace(
                  "OPTION (",
                  `FROM NextReady AS n INNER JOIN Taskgate.Ready AS d WITH (ROWLOCK, UPDLOCK, FORCESEEK)
                ON d.TaskDefinitionId = @vDefinition AND d.Priority = n.Priority AND d.Rank = n.Rank AND d.TaskId = n.TaskId
              OPTION (`,
                ),
              },
            ],
          },
        },
        found: /looks/,
      },
    ],
  },
  {
    numbers: "S3.11",
    title:
      "a claim of a thousand locks rows only, of tables that never escalate, and keeps no other reader, in the model",
    on: ["mssql"],
    play: showNoEscalation,
    faults: [
      {
        numbers: "S3.11",
        what: "a claim locks the whole table",
        planted: {
          mssql: {
            file: work,
            edits: [
              {
                from: "WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK, INDEX (PK_Ready)) -- keep them, skip others', in key order",
                to: "WITH (TABLOCKX, FORCESEEK)",
              },
            ],
          },
        },
        found: /whole/,
      },
    ],
  },
  {
    numbers: "S4.16",
    title:
      "an application lock ends with its transaction: a call checks its status, waits two seconds at most, and keeps no other call",
    on: ["mssql"],
    play: showApplicationLocks,
    faults: [
      {
        numbers: "S4.16",
        what: "the status of the lock is not looked at",
        planted: {
          mssql: {
            file: "mssql/sql/procedures/_LockKeys.sql",
            edits: [{ from: "ELSE IF @vResult < 0", to: "ELSE IF 1 = 0" }],
          },
        },
        found: /No answer within|locked for longer/,
      },
    ],
  },
];
