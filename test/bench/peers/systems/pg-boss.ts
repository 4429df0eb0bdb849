import { PgBoss } from "pg-boss";
import type { Job, JobInsert, WorkOptions } from "pg-boss";
import type { Setup } from "../../peers-launcher/protocol.ts";
import { Counting } from "../counting.ts";
import type { Handle, Payload, QueueSystem } from "../system.ts";

const queue = "work";
/** The shortest that it takes, in seconds. */
const pollingIntervalSeconds = 0.5;
/** Large batches, fetched again at once while they come back full: its own words on throughput. */
const batches: WorkOptions = {
  batchSize: 500,
  localConcurrency: 4,
  burstWhenBatchFull: true,
  pollingIntervalSeconds,
};
/** How often waiting workers are woken under a limit: polls alone would leave half a second between two jobs. */
const wakeEveryMs = 20;

export async function openSystem(setup: Setup): Promise<QueueSystem> {
  const { url, work, style, inFlight, limit, callers } = setup;
  /** One to spare per process. Polls of more workers would only burden the database. */
  const workers = Math.ceil(limit / setup.processes) + 1;
  const notifies = work === "wait";
  const max = work === "strict" ? inFlight : work === "limit" ? workers : Math.max(10, callers);
  const boss = new PgBoss({ connectionString: url, max, useListenNotify: notifies });
  boss.on("error", (error) => console.error(`pg-boss: ${error.message}`));
  let ends = false;
  const loops: Promise<void>[] = [];
  let timer: NodeJS.Timeout | null = null;
  const unfinished = new Counting(
    url,
    `select count(*)::int as count from pgboss.job where name = '${queue}' and state < 'completed'`,
  );
  const toJob = (payload: Payload): JobInsert => ({
    data: payload,
    ...(work === "limit" ? { group: { id: "all" } } : {}),
    ...(work === "groups" ? { group: { id: payload.group } } : {}),
  });
  const each = (handle: Handle) => async (jobs: Job<Payload>[]) => {
    for (const { data } of jobs) await handle(data);
  };
  /** One job at a time, fetched and completed by the calls that it documents for that. */
  const loop = async (handle: Handle): Promise<void> => {
    while (!ends) {
      const [job] = await boss.fetch<Payload>(queue);
      if (job === undefined) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        continue;
      }
      await handle(job.data);
      await boss.complete(queue, job.id);
    }
  };
  const workWithin = async (handle: Handle): Promise<void> => {
    const ids: string[] = [];
    for (let worker = 0; worker < workers; worker += 1)
      ids.push(
        await boss.work<Payload>(
          queue,
          { groupConcurrency: limit, pollingIntervalSeconds },
          each(handle),
        ),
      );
    timer = setInterval(() => {
      for (const id of ids) boss.notifyWorker(id);
    }, wakeEveryMs);
  };
  return {
    settings: `${describe(setup)}, pool ${max}${notifies ? " + 1" : ""}`,
    prepare: async () => {
      await boss.start();
      await boss.createQueue(queue, { partition: true, notify: notifies });
    },
    enqueueBulk: async (payloads, dueAt) => {
      const jobs = payloads.map(toJob);
      await boss.insert(
        queue,
        dueAt === null ? jobs : jobs.map((job) => ({ ...job, startAfter: dueAt })),
      );
    },
    enqueueOne: async (payload) => {
      await boss.send(queue, payload);
    },
    work: async (handle) => {
      await boss.start();
      if (work === "strict" && style === "batching")
        await boss.work<Payload>(
          queue,
          { ...batches, batchSize: inFlight, localConcurrency: 1 },
          each(handle),
        );
      else if (work === "strict") for (let n = 0; n < inFlight; n += 1) loops.push(loop(handle));
      else if (work === "limit") await workWithin(handle);
      else if (work === "wait")
        await boss.work<Payload>(queue, { localConcurrency: inFlight }, each(handle));
      else if (work === "groups")
        await boss.work<Payload>(queue, { ...batches, groupConcurrency: 1 }, each(handle));
      else await boss.work<Payload>(queue, batches, each(handle));
    },
    unfinished: () => unfinished.count(),
    close: async () => {
      ends = true;
      if (timer !== null) clearInterval(timer);
      await Promise.all(loops);
      await boss.stop({ graceful: false });
      await unfinished.close();
    },
  };
}

function describe({ work, style, inFlight, limit, processes }: Setup): string {
  switch (work) {
    case "strict":
      if (style === "batching")
        return `batchSize ${inFlight}, localConcurrency 1, burstWhenBatchFull`;
      return `${inFlight} loops of fetch and complete`;
    case "limit":
      return `groupConcurrency ${limit} on one group, ${Math.ceil(limit / processes) + 1} workers per process, woken every ${wakeEveryMs} ms by notifyWorker`;
    case "wait":
      return `localConcurrency ${inFlight}, useListenNotify`;
    case "groups":
      return "batchSize 500, localConcurrency 4, burstWhenBatchFull, groupConcurrency 1";
    case "drain":
    case "scheduled":
      return "batchSize 500, localConcurrency 4, burstWhenBatchFull, polls every 0.5 s";
  }
}
