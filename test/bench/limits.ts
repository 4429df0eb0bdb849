import { spawn } from "node:child_process";
import { join } from "node:path";
import { Client } from "pg";
import { sleep } from "../../shared/platform/real-clock";
import { openBench } from "./bench-environment";
import { limitedTask } from "./limited-tasks";
import type { BenchScenario, Measurement, Scale } from "./measurement";
import { taskRequest } from "../../shared/worker/define/task-ref";

interface LimitCase {
  readonly limit: number;
  /** Added to each call of the store. */
  readonly delayMs: number;
  /** Between the processes' starts; tokens move to those that come later. */
  readonly skewMs: number;
  readonly goal: number;
}

const limitCases: readonly LimitCase[] = [
  { limit: 4, delayMs: 0, skewMs: 0, goal: 0.97 },
  { limit: 16, delayMs: 0, skewMs: 0, goal: 0.97 },
  { limit: 4, delayMs: 5, skewMs: 700, goal: 0.95 },
  { limit: 16, delayMs: 5, skewMs: 700, goal: 0.95 },
];

/** Tasks of 20 ms in three processes, each of which could use all tokens: how much of the tokens' time is used. */
export const limitOverProcesses: BenchScenario = async (url, scale) => {
  const measured: Measurement[] = [];
  for (const about of limitCases) measured.push(await measureCase(url, scale, about));
  return measured;
};

async function measureCase(url: string, scale: Scale, about: LimitCase): Promise<Measurement> {
  const { limit, delayMs, skewMs, goal } = about;
  const task = limitedTask(limit);
  const bench = openBench(url, [task]);
  const count = (scale.seconds + 10) * 50 * limit;
  await bench.client.enqueueAll(Array.from({ length: count }, () => taskRequest(task, {})));
  const client = new Client({ connectionString: url });
  await client.connect();
  const children = [];
  for (let host = 0; host < 3; host += 1) {
    children.push(startProcess([url, String(limit), String(delayMs)]));
    await sleep(skewMs);
  }
  const ended = children.map((child) => new Promise((resolve) => child.once("exit", resolve)));
  await waitForDone(client, task.definition.name);
  await sleep(1_000);
  const share = await measureShare(client, {
    name: task.definition.name,
    limit,
    ms: scale.seconds * 1_000,
  });
  for (const child of children) child.kill("SIGTERM");
  await Promise.all(ended);
  await client.end();
  await bench.close();
  const far = delayMs === 0 ? "" : `, calls ${String(delayMs)} ms away, arriving one by one`;
  return {
    scenario: `limit ${String(limit)}, three processes, tasks of 20 ms${far}: share of the tokens' time in use`,
    unit: "share",
    value: share,
    goal,
  };
}

function startProcess(given: readonly string[]): ReturnType<typeof spawn> {
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "limited-process.ts");
  return spawn(process.execPath, ["-r", register, program, ...given], {
    stdio: ["ignore", "inherit", "inherit"],
  });
}

const doneOf = `from taskgate.archived a
                join taskgate.task_definition d using (task_definition_id)
                where d.name = $1`;

async function waitForDone(client: Client, name: string): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const { rowCount } = await client.query(`select 1 ${doneOf} limit 1`, [name]);
    if (rowCount !== 0) return;
    await sleep(25);
  }
  throw new Error("no task was done within 10 s");
}

async function measureShare(
  client: Client,
  { name, limit, ms }: { name: string; limit: number; ms: number },
): Promise<number> {
  const from = await client.query<{ at: Date }>("select clock_timestamp() as at");
  await sleep(ms);
  const result = await client.query<{ busy: number; span: number }>(
    `select sum(a.duration_ms)::float8 as busy,
            extract(epoch from clock_timestamp() - $2::timestamptz)::float8 * 1000 as span
     ${doneOf} and a.finished_at >= $2`,
    [name, from.rows[0]?.at],
  );
  const row = result.rows[0];
  return row === undefined ? 0 : row.busy / (limit * row.span);
}
