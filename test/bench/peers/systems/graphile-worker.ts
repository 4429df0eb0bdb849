import { Logger, makeWorkerUtils, run } from "graphile-worker";
import type { Runner, TaskSpec, WorkerUtils } from "graphile-worker";
import type { Setup } from "../../peers-launcher/protocol.ts";
import { Counting } from "../counting.ts";
import type { Payload, QueueSystem } from "../system.ts";

interface Shape {
  readonly concurrentJobs: number;
  readonly maxPoolSize: number;
  /** Jobs fetched at once; null: each worker fetches its own. Completions are batched where they are. */
  readonly localQueue: number | null;
  readonly pollInterval: number;
}

/** The set-up of the project's page on performance (worker.graphile.org/docs/performance). */
const fastest: Shape = {
  concurrentJobs: 24,
  maxPoolSize: 25,
  localQueue: 500,
  pollInterval: 2_000,
};

function shapeOf({ work, style, inFlight, limit, processes }: Setup): Shape {
  switch (work) {
    case "strict":
      return {
        concurrentJobs: inFlight,
        maxPoolSize: style === "fewest" ? 2 : inFlight + 1,
        localQueue: style === "batching" ? inFlight + 1 : null,
        pollInterval: 2_000,
      };
    case "limit": {
      // A job whose queue is taken is found again by a poll only. One worker to spare per process: each queue finds one.
      const concurrentJobs = Math.ceil(limit / processes) + 1;
      return {
        concurrentJobs,
        maxPoolSize: concurrentJobs + 1,
        localQueue: null,
        pollInterval: 50,
      };
    }
    case "wait":
      return { concurrentJobs: inFlight, maxPoolSize: 10, localQueue: null, pollInterval: 2_000 };
    case "scheduled":
      return { ...fastest, pollInterval: 500 };
    case "groups":
      return { ...fastest, pollInterval: 100 };
    case "drain":
      return fastest;
  }
}

export async function openSystem(setup: Setup): Promise<QueueSystem> {
  const { url, work, limit } = setup;
  const shape = shapeOf(setup);
  const logger = new Logger(() => () => undefined);
  const spec = (payload: Payload): Pick<TaskSpec, "queueName"> => {
    if (work === "limit") return { queueName: `queue-${payload.n % limit}` };
    return work === "groups" ? { queueName: payload.group } : {};
  };
  let opened: Promise<WorkerUtils> | null = null;
  const utils = (): Promise<WorkerUtils> =>
    (opened ??= makeWorkerUtils({ connectionString: url, maxPoolSize: setup.callers, logger }));
  const unfinished = new Counting(
    url,
    "select count(*)::int as count from graphile_worker._private_jobs",
  );
  let runner: Runner | null = null;
  const queue =
    shape.localQueue === null
      ? "no local queue"
      : `localQueue ${shape.localQueue}, completeJobBatchDelay 0`;
  return {
    settings: `concurrentJobs ${shape.concurrentJobs}, ${queue}, pollInterval ${shape.pollInterval} ms, pool ${shape.maxPoolSize}`,
    prepare: async () => (await utils()).migrate(),
    enqueueBulk: async (payloads, dueAt) => {
      const jobs = payloads.map((payload) => ({
        identifier: "work",
        payload,
        ...spec(payload),
        ...(dueAt === null ? {} : { runAt: dueAt }),
      }));
      await (await utils()).addJobs(jobs);
    },
    enqueueOne: async (payload) => {
      await (await utils()).addJob("work", payload, spec(payload));
    },
    work: async (handle) => {
      process.env["NO_LOG_SUCCESS"] = "1";
      runner = await run({
        logger,
        noHandleSignals: true,
        parsedCronItems: [],
        taskList: { work: (payload) => handle(payload as Payload) },
        preset: {
          worker: {
            connectionString: url,
            concurrentJobs: shape.concurrentJobs,
            maxPoolSize: shape.maxPoolSize,
            pollInterval: shape.pollInterval,
            ...(shape.localQueue === null
              ? {}
              : {
                  localQueue: { size: shape.localQueue },
                  completeJobBatchDelay: 0,
                  failJobBatchDelay: 0,
                }),
          },
        },
      });
    },
    unfinished: () => unfinished.count(),
    close: async () => {
      await runner?.stop();
      await (await opened)?.release();
      await unfinished.close();
    },
  };
}
