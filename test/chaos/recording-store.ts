import type { ExecutionId } from "../../shared/core/ids";
import type {
  CompleteTaskInput,
  HeartbeatAnswer,
  StoreTransaction,
  TaskStore,
  WorkAnswer,
  WorkInput,
} from "../../shared/ports/task-store";
import type { WriteEntry } from "./ledger";
import { machineMs } from "./machine-clock";

/** Calls that a process has made of its store. */
export interface CallCount {
  calls: number;
  /** The longest one since the last read. */
  longestMs: number;
}

type Method = (...values: unknown[]) => Promise<unknown>;

/**
 * The same store; what its answers say of leases, claims and completions goes into the ledger. A lease is counted from when
 * the question was sent, repeats included: the database's own may end later, never sooner.
 */
export function recordingStore(store: TaskStore, write: WriteEntry, count: CallCount): TaskStore {
  const recorded = recordedCalls(store, write);
  return new Proxy(store, {
    get: (target, property) => {
      const value: unknown =
        Reflect.get(recorded, property) ?? Reflect.get(target, property, target);
      if (typeof value !== "function") return value;
      const call = (value as Method).bind(target);
      return property === "close" ? call : counted(call, count);
    },
  });
}

function counted(call: Method, count: CallCount): Method {
  return async (...values) => {
    count.calls += 1;
    const sentMs = machineMs();
    try {
      return await call(...values);
    } finally {
      count.longestMs = Math.max(count.longestMs, machineMs() - sentMs);
    }
  };
}

function recordedCalls(store: TaskStore, write: WriteEntry): Partial<TaskStore> {
  const pending = new WeakMap<StoreTransaction, CompleteTaskInput>();
  return {
    startExecution: async (input) => {
      const sentMs = machineMs();
      const answer = await store.startExecution(input);
      const { status, executionId, leaseMs } = answer;
      const definition = input.name;
      write({ is: "asked", atMs: machineMs(), host: input.worker, definition, status });
      if (status === "started" && executionId !== null && leaseMs !== null)
        write({ is: "lease", execution: executionId, definition, sentMs, leaseMs });
      return answer;
    },
    work: async (input) => {
      const sentMs = machineMs();
      const answer = await store.work(input);
      recordWork(write, { input, answer, sentMs });
      return answer;
    },
    heartbeat: async (input) => {
      const sentMs = machineMs();
      const answer = await store.heartbeat(input);
      for (const entry of answer.executions) recordBeat(write, entry, sentMs);
      return answer;
    },
    completeTask: async (input, within) => {
      const answer = await store.completeTask(input, within);
      if (answer.status === "done" && within !== undefined) pending.set(within, input);
      return answer;
    },
    transaction: async (body) => {
      let used: StoreTransaction | undefined;
      const result = await store.transaction((transaction) => {
        used = transaction;
        return body(transaction);
      });
      const completed = used === undefined ? undefined : pending.get(used);
      if (completed !== undefined) writeAck(write, completed);
      return result;
    },
  };
}

function recordWork(
  write: WriteEntry,
  call: { input: WorkInput; answer: WorkAnswer; sentMs: number },
): void {
  const { input, answer, sentMs } = call;
  const { status, leaseMs, claimed } = answer;
  if (status === "fenced" || status === "ended" || status === "busy") return;
  const execution: ExecutionId = input.executionId;
  if (leaseMs !== null) write({ is: "lease", execution, sentMs, leaseMs });
  const refused = new Set(answer.refused);
  for (const done of input.done) if (!refused.has(done.taskId)) writeAck(write, done);
  const [first] = claimed;
  if (first === undefined) return;
  const tasks = claimed.map((task) => task.taskId);
  const orders = claimed.map((task) => orderOf(task.payload)).join(",");
  write({ is: "claim", execution, fence: first.fence, tasks, orders });
}

function orderOf(payload: unknown): string {
  const { priority } = payload as { priority?: number };
  return String(priority ?? 100);
}

function recordBeat(
  write: WriteEntry,
  entry: HeartbeatAnswer["executions"][number],
  sentMs: number,
): void {
  if (entry.status !== "renewed" || entry.leaseMs === null) return;
  write({ is: "lease", execution: entry.executionId, sentMs, leaseMs: entry.leaseMs });
}

function writeAck(write: WriteEntry, { taskId, fence }: { taskId: string; fence: string }): void {
  write({ is: "ack", atMs: machineMs(), task: taskId, fence });
}
