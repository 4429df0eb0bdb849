import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { define, enqueue, startInput, startWorker } from "../support/builders";
import type { Assumption, Finding } from "./assumption";
import { BatchConnection } from "./batch-connection";
import type { StepContext } from "./step";
import { isOver } from "./step";

/* What costs as much as it costs: figures of the server, neither good nor bad. */

const noMonitor =
  "the endpoint has neither ghosts nor an optimizer, and its speed is that of an interpreter";
const block = 10_000;
const drained = 100_000;
/** After the drain; the last ones only where there is time. */
const looksAtS = [0, 60, 300, 900];
const callers = 50;
const loopMs = 60_000;

async function withStore<Result>(
  url: string,
  connectionsMax: number,
  body: (store: TaskStore) => Promise<Result>,
): Promise<Result> {
  const store = openStore({ url, connectionsMax, random: realRandom, sleep });
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

/** Enqueues many tasks and completes them, then looks at the head of Ready as the ghosts go. */
async function ghosts(context: StepContext): Promise<Finding> {
  const { place } = context;
  const name = "verify, ghosts";
  const count = await withStore(place.url, 4, (store) => drain(context, store, name));
  const connection = await BatchConnection.open(place.url, "taskgate verify");
  const from = performance.now();
  const lines: string[] = [];
  try {
    for (const at of looksAtS) {
      while (performance.now() - from < at * 1_000 && !isOver(context)) await sleep(500);
      if (isOver(context)) break;
      lines.push(`after ${String(at)} s: ${await lookAtHead(connection, name)}`);
    }
  } finally {
    await connection.close();
  }
  const summary = `${String(count)} tasks drained; ${lines[0] ?? "no time to look"}`;
  return { status: "told", summary, details: lines };
}

async function drain(context: StepContext, store: TaskStore, name: string): Promise<number> {
  await define(store, { limit: 1, prefetchMax: 100 }, name);
  let count = 0;
  for (; count < drained && !isOver(context); count += block) {
    context.say(`ghosts: ${String(count)} enqueued`);
    await enqueue(store, name, block);
  }
  const worker = await startWorker(store, name);
  let claimed = await worker.claim(100);
  while (claimed.length > 0 && !isOver(context)) {
    claimed = (await worker.complete(claimed, 100)).claimed;
  }
  await worker.finish();
  return count;
}

async function lookAtHead(connection: BatchConnection, name: string): Promise<string> {
  const begun = performance.now();
  await connection.must(
    `SELECT TOP (1) r.TaskId FROM Taskgate.Ready AS r WITH (READCOMMITTEDLOCK, READPAST, FORCESEEK)
     WHERE r.TaskDefinitionId = (SELECT d.TaskDefinitionId FROM Taskgate.TaskDefinition AS d WHERE d.Name = N'${name}');`,
  );
  const ms = performance.now() - begun;
  const { rows, errors } = await connection.run(
    `SELECT SUM(p.ghost_record_count) AS g, SUM(p.version_ghost_record_count) AS v
     FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID(N'Taskgate.Ready'), 1, NULL, 'DETAILED') AS p;`,
  );
  const [ghostRows, versions] = rows[0] ?? [];
  const seen =
    errors.length > 0
      ? "ghosts can't be counted (VIEW DATABASE STATE)"
      : `${String(ghostRows)} ghosts, ${String(versions)} kept for versions`;
  return `a look at the head takes ${ms.toFixed(1)} ms, ${seen}`;
}

/** What the plan of the claim is made of, and how often a minute one definition's row is passed by many. */
async function claims(context: StepContext): Promise<Finding> {
  const { place } = context;
  const connection = await BatchConnection.open(place.url, "taskgate verify");
  try {
    const plan = await claimPlan(connection);
    const { calls, failures, seconds } = await withStore(place.url, callers, (store) =>
      passTokens(context, store),
    );
    return {
      status: "told",
      summary: `${(calls / seconds).toFixed(0)} token calls/s by ${String(callers)} callers, ${String(failures)} that failed`,
      details: [plan],
    };
  } finally {
    await connection.close();
  }
}

async function claimPlan(connection: BatchConnection): Promise<string> {
  const { rows, errors } = await connection.run(
    `SELECT TOP (1) p.query_plan AS x FROM sys.dm_exec_procedure_stats AS s
     CROSS APPLY sys.dm_exec_text_query_plan(s.plan_handle, 0, -1) AS p
     WHERE s.database_id = DB_ID() AND s.object_id = OBJECT_ID(N'Taskgate.Work') AND p.query_plan IS NOT NULL;`,
  );
  const xml = rows[0]?.[0];
  if (errors.length > 0 || typeof xml !== "string")
    return "The plan of the claim can't be seen (VIEW SERVER STATE)";
  const deletes = [
    ...xml.matchAll(/<StmtSimple[^>]*StatementText="([^"]*)"[\s\S]*?<\/StmtSimple>/g),
  ]
    .filter(([, text]) => /DELETE/.test(text ?? "") && /Next|Ready/.test(text ?? ""))
    .map(([statement]) =>
      [...statement.matchAll(/PhysicalOp="([^"]+)"/g)].map(([, operator]) => operator).join(" < "),
    );
  return `Statements of Work that delete ready tasks:\n${deletes.join("\n")}`;
}

interface Passed {
  readonly calls: number;
  readonly failures: number;
  readonly seconds: number;
}

async function passTokens(context: StepContext, store: TaskStore): Promise<Passed> {
  const name = await define(store, { limit: callers, prefetchMax: 1 }, "verify, tokens");
  await enqueue(store, name, callers);
  const from = performance.now();
  const until = Math.min(from + loopMs, context.endsAtMs);
  let calls = 0;
  let failures = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < until && !context.signal.aborted) {
      try {
        const { executionId } = await store.startExecution(startInput(name));
        calls += 1;
        if (executionId === null) continue;
        await store.finishExecution({ executionId });
        calls += 1;
      } catch {
        failures += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: callers }, loop));
  return { calls, failures, seconds: (performance.now() - from) / 1_000 };
}

export const figureAssumptions: Readonly<Record<9 | 10, Assumption>> = {
  9: { what: "9 ghosts at the head of Ready", serverOnly: noMonitor, run: ghosts },
  10: { what: "10 the claim's plan, the token row's rate", serverOnly: noMonitor, run: claims },
};
