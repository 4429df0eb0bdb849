import { asExecutionId, executionNumber } from "../../shared/core/ids";
import type { ExecutionId } from "../../shared/core/ids";
import type {
  Beat,
  HeartbeatAnswer,
  StartExecutionAnswer,
  StartExecutionInput,
  TaskStore,
  WorkAnswer,
  WorkInput,
} from "../../shared/ports/task-store";
import { findDefinition } from "../../shared/testing/memory-store/rows";
import { Heartbeat } from "../../shared/worker/run/heartbeat";
import type { LeaseHolder } from "../../shared/worker/run/heartbeat";
import type { WorkerEnvironment } from "../../shared/worker/environment";
import { epochMs } from "./host";
import type { Plant } from "./plant";

/** Forwards everything but `methods`. */
function overriding(store: TaskStore, methods: Partial<TaskStore>): TaskStore {
  return new Proxy(store, {
    get: (target, property) =>
      Reflect.get(Reflect.has(methods, property) ? methods : target, property) as unknown,
  });
}

/** At least one mistake for each promise: a database that does wrong, or a worker whose surroundings mislead it. */
export const plantedBugs: readonly Plant[] = [
  {
    name: "a-token-too-many",
    promise: "limit",
    tamper: () => async (call, run, database) => {
      if (call.operation !== "startExecution") return run();
      const definition = findDefinition(database.rows, (call.input as StartExecutionInput).name);
      const limit = definition?.settings.limit ?? null;
      if (definition === undefined || limit === null) return run();
      definition.settings = { ...definition.settings, limit: limit + 1 };
      const answering = run();
      definition.settings = { ...definition.settings, limit };
      return answering;
    },
  },
  {
    // Only the bodies that run on tokens alone draw from one.
    name: "a-shared-limit-that-is-not-asked",
    promise: "limit",
    tamper: () => async (call, run, database) => {
      if (call.operation !== "acquireTokens") return run();
      const { executionId } = call.input as { executionId: ExecutionId };
      const { definitionId = -1 } =
        database.rows.executions.get(executionNumber(executionId)) ?? {};
      const definition = database.rows.definitions.get(definitionId);
      if (definition === undefined) return run();
      const { sharedLimitIds } = definition;
      definition.sharedLimitIds = [];
      const answering = run();
      definition.sharedLimitIds = sharedLimitIds;
      return answering;
    },
  },
  {
    // Where commits are lost, another execution has that number. Heartbeats compare claims and tokens as well: few of these show.
    name: "executions-by-number-alone",
    promise: "limit",
    failovers: 15,
    seeds: 400,
    breaksToo: ["one holder", "clock", "order", "nothing lost"],
    tamper: () => async (call, run) => {
      const input = call.input as { executionId?: ExecutionId; executions?: readonly Beat[] };
      const numbered = (id: ExecutionId): ExecutionId => asExecutionId(executionNumber(id));
      const { executionId, executions = [] } = input;
      if (executionId !== undefined) return run({ ...input, executionId: numbered(executionId) });
      if (call.operation !== "heartbeat") return run();
      const beats = executions.map((beat) => ({
        ...beat,
        executionId: numbered(beat.executionId),
      }));
      const answer = (await run({ ...input, executions: beats })) as HeartbeatAnswer;
      return {
        executions: executions.map((beat) => ({
          ...answer.executions.find((told) => told.executionId === numbered(beat.executionId)),
          executionId: beat.executionId,
        })),
      };
    },
  },
  {
    name: "tokens-back-before-the-handlers-end",
    promise: "limit",
    environment: (environment) => {
      const { store } = environment;
      const work = async (input: WorkInput): Promise<WorkAnswer> => {
        const answer = await store.work(input);
        await store.releaseTokens({ executionId: input.executionId, keep: 1 });
        return answer;
      };
      return { ...environment, store: overriding(store, { work }) };
    },
  },
  {
    name: "a-claim-handed-out-twice",
    promise: "one holder",
    tamper: () => {
      let given: WorkAnswer["claimed"][number] | undefined;
      return async (call, run) => {
        const answer = await run();
        if (call.operation !== "work") return answer;
        const { claimed } = answer as WorkAnswer;
        const second = given;
        given = claimed[0] ?? given;
        if (second === undefined || claimed.length === 0 || second.isGrouped) return answer;
        given = undefined;
        return { ...(answer as WorkAnswer), claimed: [...claimed, second] };
      };
    },
  },
  {
    // The worker's own guard hides it from the database: it is taken away as well.
    name: "a-stale-completion-counts",
    promise: "one holder",
    environment: withoutWallClock,
    tamper: () => async (call, run, database) => {
      const answer = await run();
      if (call.operation !== "work" || (answer as WorkAnswer).status !== "fenced") return answer;
      for (const { taskId } of (call.input as WorkInput).done)
        for (const row of database.rows.executions.values()) {
          const claim = row.claims.find((candidate) => candidate.taskId === taskId);
          if (claim === undefined || row.state !== "live") continue;
          await database.memory.completeTask({
            executionId: asExecutionId(row.executionId),
            taskId,
            fence: claim.fence,
            durationMs: 1,
            result: null,
          });
        }
      // As if the stale worker were still heard.
      return answer;
    },
  },
  {
    name: "an-enqueue-forgotten",
    promise: "nothing lost",
    tamper: () => {
      let count = 0;
      return async (call, run, database) => {
        const answer = await run();
        if (call.operation !== "enqueueTasks" || call.within !== undefined) return answer;
        if ((count += 1) % 10 !== 0) return answer;
        const { taskIds } = answer as { taskIds: string[] };
        database.memory.damage((state) => {
          state.ready = state.ready.filter((row) => row.taskId !== taskIds[0]);
          for (const taskId of state.tasks.keys()) {
            const isPlaced = state.scheduled.some((row) => row.taskId === taskId);
            if (taskId === taskIds[0] && !isPlaced && state.tasks.get(taskId)?.groupId === null)
              state.tasks.delete(taskId);
          }
        });
        return answer;
      };
    },
  },
  {
    name: "a-place-kept-for-ever",
    promise: "order",
    environment: (environment) => {
      const { store } = environment;
      const places = new Map<string, NonNullable<WorkAnswer["last"]>>();
      const work = async (input: WorkInput): Promise<WorkAnswer> => {
        const after = places.get(input.executionId) ?? input.after;
        const answer = await store.work(after === undefined ? input : { ...input, after });
        if (answer.last !== null) places.set(input.executionId, answer.last);
        return answer;
      };
      return { ...environment, store: overriding(store, { work }) };
    },
  },
  {
    name: "a-claim-waits-for-the-one-before",
    promise: "no waiting",
    tamper: () => {
      let before: Promise<unknown> = Promise.resolve();
      return async (call, run, database) => {
        if (call.operation !== "work") return run();
        // Its row stays locked until the worker has answered.
        const mine = before.then(run);
        before = mine.then(() => database.time.sleep(20)).catch(() => undefined);
        return mine;
      };
    },
  },
  { name: "a-new-id-for-a-repeat", promise: "once", renewsIds: true },
  {
    name: "nobody-reclaims",
    promise: "stale work returns",
    environment: (environment) => ({
      ...environment,
      store: overriding(environment.store, {
        reclaimExpired: async () => ({
          status: "none",
          executions: 0,
          tasksBack: 0,
          tasksLost: 0,
          tasksDead: 0,
          definitions: [],
          more: false,
          opening: [],
        }),
      }),
    }),
  },
  {
    name: "denied-although-free",
    promise: "first come, first served",
    tamper: () => {
      let count = 0;
      return async (call, run, database) => {
        const answer = await run();
        const { status, executionId } = answer as StartExecutionAnswer;
        if (call.operation !== "startExecution" || status !== "started") return answer;
        if ((count += 1) % 7 !== 0 || executionId === null) return answer;
        // It takes the turn for another's.
        await database.memory.finishExecution({ executionId });
        database.rows.executions.delete(executionNumber(executionId));
        return {
          ...(answer as StartExecutionAnswer),
          status: "limited",
          executionId: null,
          tokens: 0,
        };
      };
    },
  },
  {
    name: "a-suspension-unnoticed",
    promise: "clock",
    // What it begins too late is taken back by then, or held by another.
    breaksToo: ["one holder"],
    environment: withoutWallClock,
  },
  {
    name: "leases-by-the-worker's-clock",
    promise: "clock",
    // A lease that ended an hour ago is taken back from its new holder; one that ends in an hour is never taken back.
    breaksToo: ["limit", "stale work returns"],
    tamper: () => async (call, run, database) => {
      const { host } = call;
      const counts = ["startExecution", "work", "heartbeat"].includes(call.operation);
      if (host === null || !counts) return run();
      database.clockErrorMs = Math.round(host.clock.nowMs() - epochMs - database.time.nowMs);
      const answering = run();
      database.clockErrorMs = 0;
      return answering;
    },
  },
  {
    name: "a-statement-for-each-that-waits",
    promise: "flat cost",
    environment: (environment) => {
      const { store } = environment;
      const work = async (input: WorkInput): Promise<WorkAnswer> => {
        const { definitions } = await store.listDefinitions({});
        for (const { name, ready } of definitions)
          for (let looked = 0; looked < ready; looked += 1)
            await store.listTasks({ name, state: "ready", max: 1 });
        return store.work(input);
      };
      return { ...environment, store: overriding(store, { work }) };
    },
  },
  {
    name: "a-heartbeat-that-never-ends",
    promise: "quiet when idle",
    heartbeat: (environment) => new EndlessHeartbeat(environment),
  },
  {
    name: "long-timers-are-lost",
    promise: "in time",
    environment: (environment) => ({ ...environment, timers: withoutLongTimers(environment) }),
  },
];

/** The wall clock stands still while the machine does: nothing tells that time has passed. */
function withoutWallClock(environment: WorkerEnvironment): WorkerEnvironment {
  const { monotonicMs } = environment.clock;
  return { ...environment, clock: { monotonicMs, nowMs: monotonicMs } };
}

class EndlessHeartbeat extends Heartbeat {
  override add(holder: LeaseHolder): () => void {
    super.add({
      executionId: asExecutionId(holder.executionId),
      leaseMs: holder.leaseMs,
      timeoutMs: null,
      running: holder.running,
      renewedAgoMs: () => Number.POSITIVE_INFINITY,
      takeStarted: () => holder.takeStarted(),
      returnStarted: (started) => {
        holder.returnStarted(started);
      },
      hasWaiting: () => holder.hasWaiting(),
      onRenewed: (answer, sentAt) => {
        holder.onRenewed(answer, sentAt);
      },
    });
    return () => undefined;
  }
}

function withoutLongTimers({ timers }: WorkerEnvironment): WorkerEnvironment["timers"] {
  return {
    soon: timers.soon,
    after: (ms, callback) => (ms > 20_000 ? () => undefined : timers.after(ms, callback)),
  };
}
