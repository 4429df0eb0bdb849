import { sleep } from "../../shared/platform/real-clock";
import { machineMs } from "./machine-clock";
import { mainName, sharedName, sideName } from "./plan";
import { deliver, sweepOnce } from "./delivery";
import type { Scene } from "./scene";
import { newestBuild } from "./scene";

/** After this time without an end no task ends any more. */
const stuckMs = 90_000;
/** The same of tasks that an old build put off: for at most five minutes, until a newer one may take them. */
const drainStuckMs = 330_000;
/** The time for which the quiet is watched. */
const quietMs = 2_000;
const restMostMs = 30_000;
const stopMostMs = 15_000;

/** Ends all troubles and waits until every task has ended; then looks whether all is quiet, and stops the hosts. */
export async function comeToEnd(
  scene: Scene,
  { onProgress, signal }: { onProgress: (line: string) => void; signal: AbortSignal },
): Promise<void> {
  const { network, hosts, queue, server, limits, feeder, verdict, startHost } = scene;
  onProgress("the end: no more troubles");
  queue.isHonest = true;
  if (!server.isUp) await server.restart();
  network.heal();
  for (const host of hosts.all) hosts.thaw(host);
  // The deployment is over: the remaining hosts know every kind.
  for (const host of hosts.all) if (host.build < newestBuild) hosts.tell(host, { is: "stop" });
  startHost(newestBuild);
  startHost(newestBuild);
  for (const [name, limit] of [
    [mainName, 8],
    [sideName, 4],
    [sharedName, 12],
  ] as const) {
    while (!(await limits.set(name, limit))) await sleep(100);
  }
  await feeder.settle(stuckMs);
  if (feeder.pending > 0)
    verdict.broken(
      "once",
      `${String(feeder.pending)} enqueues without an answer for ${String(stuckMs)} ms`,
    );
  if (await drain(scene, signal)) await judgeQuiet(scene);
  for (const crash of hosts.crashes) verdict.broken("in time", crash);
  const late = await hosts.stop(stopMostMs);
  for (const name of late)
    verdict.broken("in time", `${name} didn't end within ${String(stopMostMs)} ms`);
}

/** False: something doesn't come to its end. */
async function drain(scene: Scene, signal: AbortSignal): Promise<boolean> {
  const { observer, verdict, queue, server } = scene;
  let least = Number.POSITIVE_INFINITY;
  let lastMs = machineMs();
  for (let turn = 0; ; turn += 1) {
    signal.throwIfAborted();
    deliver(scene);
    if (turn % 20 === 0) {
      if (!server.isUp) await server.restart();
      sweepOnce(scene);
      queue.push(mainName, 0);
      queue.push(sideName, 0);
      if ((await observer.look()) && observer.unfinished === 0) return true;
      if (observer.unfinished < least) {
        least = observer.unfinished;
        lastMs = machineMs();
      }
      if (machineMs() - lastMs > drainStuckMs) break;
    }
    await sleep(50);
  }
  verdict.broken(
    "nothing lost",
    `${String(observer.unfinished)} tasks don't come to their end: ${await leftTasks(scene)}`,
  );
  return false;
}

async function leftTasks({ observer }: Scene): Promise<string> {
  const client = await observer.client();
  const { rows } = await client.query<{ text: string }>(
    "select (taskgate.explain_task(t.task_id))::text as text from taskgate.task t order by t.task_id limit 3",
  );
  return rows.map(({ text }) => text).join("; ");
}

/** Quiet when idle: with nothing to do, hosts call nothing between ticks, and a tick is one call. */
async function judgeQuiet(scene: Scene): Promise<void> {
  const { hosts, verdict, queue } = scene;
  const endMs = machineMs() + restMostMs;
  while (queue.size > 0 || (await countAll(scene)).executions > 0) {
    if (machineMs() > endMs) {
      verdict.broken(
        "quiet when idle",
        `hosts still work ${String(restMostMs)} ms after the last task's end`,
      );
      return;
    }
    deliver(scene);
    await sleep(100);
  }
  const before = await countAll(scene);
  await sleep(quietMs);
  const after = await countAll(scene);
  verdict.check("quiet when idle");
  if (after.calls !== before.calls)
    verdict.broken(
      "quiet when idle",
      `${String(after.calls - before.calls)} calls in ${String(quietMs)} ms without a tick`,
    );
  const [host] = hosts.awake;
  if (host === undefined) return;
  // Its first tick makes its build known.
  await tick(scene);
  const known = await countAll(scene);
  await tick(scene);
  verdict.check("quiet when idle");
  const calls = (await countAll(scene)).calls - known.calls;
  if (calls !== 1)
    verdict.broken("quiet when idle", `${String(calls)} calls for one tick with nothing to do`);
}

async function tick({ hosts }: Scene): Promise<void> {
  const [host] = hosts.awake;
  if (host !== undefined) hosts.tell(host, { is: "sweep" });
  await sleep(1_000);
}

/** Asks every host, and waits until each has answered or is gone. */
async function countAll({ hosts, told }: Scene): Promise<{ calls: number; executions: number }> {
  told.clear();
  const asked = hosts.awake;
  for (const host of asked) hosts.tell(host, { is: "count" });
  const endMs = machineMs() + restMostMs;
  while (
    asked.some(({ name }) => hosts.awake.some((host) => host.name === name) && !told.has(name))
  ) {
    if (machineMs() > endMs) break;
    await sleep(20);
  }
  const all = [...told.values()];
  return {
    calls: all.reduce((sum, { calls }) => sum + calls, 0),
    executions: all.reduce((sum, { executions }) => sum + executions, 0),
  };
}
