import { openStore } from "../../shared/store/open-store";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore, WorkInput } from "../../shared/ports/task-store";
import { defineTask } from "../../shared/worker/define/define-task";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import { createRegistry } from "../../shared/worker/define/registry";
import { runWorker } from "../../shared/worker/run/run-worker";
import { LimitPools } from "../../shared/worker/run/limit-pools";
import { withTokens } from "../../shared/worker/run/with-tokens";
import { OverlapLog } from "./overlap-log";
import { quietEnvironment } from "../support/quiet-environment";

/*
 * One process of the limit test: restarts executions of 0.3 to 1 s that want 1 to 20 tokens, until it is told to stop by
 * SIGTERM. Each task writes when it begins and ends into the overlap log, in database time, on a connection of its own.
 * Arguments: database URL, name of this process, mode: tasks | tokens | deaf (tokens, with a
 * planted bug: what beats tell isn't heard) | early-release (a planted bug: tokens go back
 * while handlers still run), and the database's URL for evidence, which only the owner may gather.
 */
const [, , url = "", name = "", mode = "tasks", ownerUrl = ""] = process.argv;
const leaseMs = 3_000;

async function main(): Promise<void> {
  const opened = openStore({ url, connectionsMax: 4, random: realRandom, sleep });
  const planted = { "early-release": releasesEarly, deaf: deafTo };
  const plant = mode === "early-release" || mode === "deaf" ? planted[mode] : null;
  const log = new OverlapLog(ownerUrl, name);
  const store = noteAnswers(plant?.(opened) ?? opened, log);
  const environment = quietEnvironment(store, { workerName: name });
  const heartbeat = new Heartbeat(environment);
  const pools = new LimitPools(environment, heartbeat);
  const task = defineTask({
    name: "limited",
    limit: 4,
    leaseMs,
    lostMax: 1_000,
    retry: { attempts: 1_000 },
    run: async (_, context) => {
      const entry = await log.beginTask(context.fence);
      try {
        await sleep(5 + 40 * realRandom.fraction(), context.signal);
      } finally {
        // Also when the signal ends it, as it does when the lease couldn't be renewed in time.
        await log.end(entry);
      }
      // The effect and the completion in one transaction: exactly once, also when this process dies.
      await context.completeWith(async (transaction) => {
        await transaction.query("insert into effect (task_id) values ($1)", [context.taskId]);
      });
    },
  });
  const registry = createRegistry([task]);
  const stop = new AbortController();
  process.on("SIGTERM", () => {
    stop.abort();
  });
  while (!stop.signal.aborted) {
    const executionMs = 300 + 700 * realRandom.fraction();
    const want = 1 + Math.floor(20 * realRandom.fraction());
    if (mode === "tokens" || mode === "deaf") {
      const answer = await withTokens(
        pools,
        {
          limit: { name: "limited-tokens", limit: 4, leaseMs },
          want: Math.min(want, 2),
          waitMs: 300,
        },
        async (tokens) => {
          const admittedMs = Date.now();
          const entries = await Promise.all(
            Array.from({ length: tokens.tokens }, () =>
              log.begin(String(tokens.fence), admittedMs),
            ),
          );
          try {
            await sleep(20 + 100 * realRandom.fraction(), tokens.signal);
          } finally {
            for (const entry of entries) await log.end(entry);
          }
        },
      );
      if (answer.ran) await log.granted(Math.min(want, 2));
      else await sleep(5 + 20 * realRandom.fraction());
      continue;
    }
    const result = await runWorker(
      {
        environment,
        registry,
        heartbeat,
        concurrencyPerWorker: want,
        idleReads: 0,
        idlePauseMs: 10,
      },
      "limited",
      { deadlineMs: realClock.monotonicMs() + executionMs, marginMs: 100, signal: stop.signal },
    );
    if (result.status === "worked") await log.granted(result.tokens);
    else await sleep(5 + 20 * realRandom.fraction());
  }
  await log.close();
  await store.close();
}

/** Notes when this process asked what others want, and when it was answered. */
function noteAnswers(store: TaskStore, log: OverlapLog): TaskStore {
  return new Proxy(store, {
    get: (target, property) => {
      if (property !== "heartbeat") {
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      }
      return async (input: Parameters<TaskStore["heartbeat"]>[0]) => {
        const sentMs = Date.now();
        const answer = await target.heartbeat(input);
        // A note that fails makes the judgement stricter, not laxer.
        log.heard(sentMs, Date.now()).catch(() => undefined);
        return answer;
      };
    },
  });
}

/** Hears of every beat that its leases are renewed, and nothing of limits: its pools ignore a lost lease and a lowered limit. */
function deafTo(store: TaskStore): TaskStore {
  return new Proxy(store, {
    get: (target, property) => {
      if (property !== "heartbeat") {
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      }
      return async (input: Parameters<TaskStore["heartbeat"]>[0]) => {
        const { executions } = await target.heartbeat(input);
        const kept = {
          status: "renewed",
          leaseMs: 86_400_000,
          overLimit: 0,
          releaseRequested: false,
          isPaused: false,
        };
        return { executions: executions.map((entry) => ({ ...entry, ...kept })) };
      };
    },
  });
}

/** Gives all tokens back as soon as tasks are claimed. */
function releasesEarly(store: TaskStore): TaskStore {
  return new Proxy(store, {
    get: (target, property) => {
      if (property !== "work") {
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      }
      return async (input: WorkInput) => {
        const answer = await target.work(input);
        if (answer.claimed.length > 0)
          await target.releaseTokens({ executionId: input.executionId, keep: 0 });
        return answer;
      };
    },
  });
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
