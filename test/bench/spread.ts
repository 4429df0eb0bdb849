import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { Client } from "pg";
import { sleep } from "../../shared/platform/real-clock";
import { defineTask } from "../../shared/worker/define/define-task";
import { openBench } from "./bench-environment";
import type { Measurement, Scale } from "./measurement";
import { taskRequest } from "../../shared/worker/define/task-ref";

/** As test/fault/spread-worker-process.ts defines it; here it is only enqueued. */
const busy = defineTask({ name: "busy", limit: 4, leaseMs: 10_000, run: async () => undefined });
/** Tasks a second of one process that runs one after the other, with room to spare. */
const perSecond = 20;

/**
 * Tasks that keep the event loop of their process busy for 50 ms, limit 4: how much faster three processes are than the one
 * that came first and held all tokens, a lease (10 s) after the third came.
 */
export async function spreadOverHosts(url: string, scale: Scale): Promise<Measurement[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(
    `create table if not exists hint (entry bigint generated always as identity primary key, definition text not null,
                                      visible_at timestamptz not null)`,
  );
  const bench = openBench(url, [busy]);
  const count = perSecond * (4 * scale.seconds + 3 * 20);
  await bench.client.enqueueAll(Array.from({ length: count }, () => taskRequest(busy)));
  const hosts = [startHost(url, "host 1")];
  await waitForTasks(client);
  const alone = await countDone(client, scale.seconds);
  for (const name of ["host 2", "host 3"]) {
    hosts.push(startHost(url, name));
    await sleep(1_500);
  }
  await sleep(8_500);
  const together = await countDone(client, scale.seconds);
  await stop(hosts);
  await client.end();
  await bench.close();
  return [
    {
      scenario: "limit 4, blocking tasks of 50 ms: three processes against the first one",
      unit: "times",
      value: together / alone,
      goal: 2.5,
    },
  ];
}

function startHost(url: string, name: string): ChildProcess {
  const register = join(__dirname, "../support/register-swc.cjs");
  const program = join(__dirname, "../fault/spread-worker-process.ts");
  return spawn(process.execPath, ["-r", register, program, url, name, "quiet"], {
    stdio: ["ignore", "inherit", "inherit"],
  });
}

async function waitForTasks(client: Client): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    if ((await client.query("select 1 from taskgate.archived limit 1")).rowCount !== 0) return;
    await sleep(25);
  }
  throw new Error("no task was done within 10 s");
}

/** Tasks done within so many seconds from now. */
async function countDone(client: Client, seconds: number): Promise<number> {
  const count = async (): Promise<number> => {
    const { rows } = await client.query<{ done: number }>(
      "select count(*)::int as done from taskgate.archived",
    );
    return rows[0]?.done ?? 0;
  };
  const before = await count();
  await sleep(seconds * 1_000);
  return (await count()) - before;
}

async function stop(hosts: readonly ChildProcess[]): Promise<void> {
  const ended = hosts.map((host) => new Promise((resolve) => host.once("exit", resolve)));
  for (const host of hosts) host.kill("SIGTERM");
  await Promise.all(ended);
}
