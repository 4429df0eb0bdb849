import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { define } from "../support/builders";
import type { Assumption, Fault, Finding } from "./assumption";
import { cleaning, expecting, judged } from "./assumption";
import { BatchConnection } from "./batch-connection";
import type { StepContext } from "./step";

/* Assumptions about locks over the product's own tables, with two sessions and with the server's view of locks. */

/** No definition has it. */
const nobodys = 2_000_000_000;
const definition = String(nobodys);
const row = `${definition}, 100, 0`;

const claim = `SET LOCK_TIMEOUT 500; BEGIN TRANSACTION;
WITH q AS (SELECT TOP (1) r.TaskId FROM Taskgate.Ready AS r WITH (ROWLOCK, UPDLOCK, READPAST, FORCESEEK)
  WHERE r.TaskDefinitionId = ${definition} ORDER BY r.Priority, r.Rank, r.TaskId) DELETE FROM q;
SELECT @@ROWCOUNT AS n;`;
const probe = `SET LOCK_TIMEOUT 500; BEGIN TRANSACTION;
SELECT TOP (1) r.TaskId FROM Taskgate.Ready AS r WITH (ROWLOCK, READCOMMITTEDLOCK, READPAST, FORCESEEK)
  WHERE r.TaskDefinitionId = ${definition} ORDER BY r.Priority, r.Rank, r.TaskId;`;

/** What A does and keeps open; B must step over it at once. */
const holds = [
  {
    title: "a new row",
    before: "",
    sql: `INSERT INTO Taskgate.Ready (TaskDefinitionId, Priority, Rank, TaskId) VALUES (${row}, -1);`,
  },
  {
    title: "a deleted row",
    before: `INSERT INTO Taskgate.Ready (TaskDefinitionId, Priority, Rank, TaskId) VALUES (${row}, -2);`,
    sql: `DELETE FROM Taskgate.Ready WHERE TaskDefinitionId = ${definition} AND Priority = 100 AND Rank = 0 AND TaskId = -2;`,
  },
  {
    title: "a changed row",
    before: `INSERT INTO Taskgate.Ready (TaskDefinitionId, Priority, Rank, TaskId) VALUES (${row}, -3);`,
    sql: `UPDATE Taskgate.Ready SET IsSolo = 1 WHERE TaskDefinitionId = ${definition} AND Priority = 100 AND Rank = 0 AND TaskId = -3;`,
  },
];
const removeRows = `DELETE FROM Taskgate.Ready WHERE TaskDefinitionId = ${definition};`;

async function stepOver({ place }: StepContext): Promise<Finding> {
  const [holder, other] = await Promise.all([
    BatchConnection.open(place.url, "taskgate verify A"),
    BatchConnection.open(place.url, "taskgate verify B"),
  ]);
  const faults: Fault[] = [];
  const undo = "IF @@TRANCOUNT > 0 ROLLBACK;";
  try {
    await cleaning(holder, [undo, removeRows], async () => {
      for (const { title, before, sql } of holds) {
        if (before !== "") await holder.must(before);
        await holder.must(`BEGIN TRANSACTION; ${sql}`);
        faults.push(expecting(await other.run(claim), `a claim beside ${title}`, { rows: [[0]] }));
        await other.must(undo);
        faults.push(expecting(await other.run(probe), `a probe beside ${title}`, { rows: [] }));
        await other.must(undo);
        await holder.must(`${undo} ${removeRows}`);
      }
    });
  } finally {
    await Promise.all([holder.close(), other.close()]);
  }
  return judged("new, deleted and changed rows of others are stepped over at once", faults);
}

const blockMax = 10_000;

async function defineOne(url: string): Promise<string> {
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  try {
    return await define(store, {}, "verify, locks");
  } finally {
    await store.close();
  }
}

/** The first call of a new plan, with as many rows as one call takes. */
async function noTableLocks({ place }: StepContext): Promise<Finding> {
  const connection = await BatchConnection.open(place.url, "taskgate verify");
  try {
    const name = await defineOne(place.url);
    await connection.must("EXEC sys.sp_recompile N'Taskgate.EnqueueTasks';");
    const tasks = JSON.stringify(Array.from({ length: blockMax }, () => ({ payload: null })));
    const locks = await cleaning(connection, ["IF @@TRANCOUNT > 0 ROLLBACK;"], () =>
      connection.must(
        `BEGIN TRANSACTION; EXEC Taskgate.EnqueueTasks @Name = N'${name}', @Build = 1, @Tasks = N'${tasks}';
         SELECT RTRIM(l.resource_type) AS t, RTRIM(l.request_mode) AS m, COUNT(*) AS n FROM sys.dm_tran_locks AS l
         WHERE l.request_session_id = @@SPID GROUP BY l.resource_type, l.request_mode;`,
      ),
    );
    const found = locks.rows.map((entry) => entry.join(" "));
    const wrong = locks.rows.filter(
      ([type, mode]) => type === "OBJECT" && !["IS", "IX", "Sch-S"].includes(String(mode)),
    );
    return judged(`enqueue of ${String(blockMax)}: ${found.join(", ")}`, [
      ...wrong.map((entry) => `a table is locked as a whole: ${entry.join(" ")}`),
    ]);
  } finally {
    await connection.close();
  }
}

export const lockAssumptions: Readonly<Record<5 | 7, Assumption>> = {
  5: { what: "5 READPAST steps over what only a transaction guards", run: stepOver },
  7: {
    what: "7 no table is locked as a whole",
    serverOnly: "locks of tables and the optimizer's choice of them aren't imitated",
    run: noTableLocks,
  },
};
