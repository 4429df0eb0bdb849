import { Queue, Worker } from "bullmq";
import type { Setup } from "../../peers-launcher/protocol.ts";
import type { Payload, QueueSystem } from "../system.ts";

const name = "work";
/** Within the range that its documentation names for handlers that do little. */
const drainConcurrency = 100;

export async function openSystem(setup: Setup): Promise<QueueSystem> {
  const { work, inFlight, limit, redisPort } = setup;
  if (redisPort === null) throw new Error("BullMQ needs Redis");
  const connection = { host: "127.0.0.1", port: redisPort, maxRetriesPerRequest: null };
  const concurrency =
    work === "limit" ? limit : work === "strict" || work === "wait" ? inFlight : drainConcurrency;
  const queue = new Queue<Payload>(name, {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  let worker: Worker<Payload> | null = null;
  const global = work === "limit" ? `, setGlobalConcurrency ${limit}` : "";
  return {
    settings: `concurrency ${concurrency}${global}, removeOnComplete, connections 2 of a worker, 1 of a queue`,
    prepare: async () => {
      await queue.waitUntilReady();
      if (work === "limit") await queue.setGlobalConcurrency(limit);
    },
    enqueueBulk: async (payloads, dueAt) => {
      const delay = dueAt === null ? null : Math.max(1, dueAt.getTime() - Date.now());
      await queue.addBulk(
        payloads.map((data) => ({ name, data, ...(delay === null ? {} : { opts: { delay } }) })),
      );
    },
    enqueueOne: async (payload) => {
      await queue.add(name, payload);
    },
    work: async (handle) => {
      worker = new Worker<Payload>(name, ({ data }) => handle(data), { connection, concurrency });
      worker.on("error", (error) => console.error(`bullmq: ${error.message}`));
      await worker.waitUntilReady();
    },
    unfinished: async () => {
      const counts = await queue.getJobCounts("wait", "active", "delayed", "prioritized");
      return Object.values(counts).reduce((sum, count) => sum + count, 0);
    },
    close: async () => {
      await worker?.close(true);
      await queue.close();
    },
  };
}
