import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient, defineTask } from "taskgate";
import { taskgate } from "taskgate/functions";
import type { Setup } from "../../peers-launcher/protocol.ts";
import { Counting } from "../counting.ts";
import type { Handle, Payload, QueueSystem } from "../system.ts";

/* By the package's doors: `createClient`, `taskgate migrate`, and `gate.work`, which is what `taskgate work` calls. */

interface Shape {
  /** Tokens of a process, tasks claimed beyond each, and TASKGATE_CONNECTIONS_MAX. */
  readonly tokens: number;
  readonly prefetch: number;
  readonly connections: number;
}

/** 8 tokens with 124 tasks beyond each: 1,000 are held, and the server works on one half while handlers run the other. */
const drains: Shape = { tokens: 8, prefetch: 124, connections: 3 };

function shapeOf({ work, style, inFlight, limit }: Setup): Shape {
  switch (work) {
    case "strict":
      return { tokens: inFlight, prefetch: style === "batching" ? 1 : 0, connections: 1 };
    case "limit":
      return { tokens: limit, prefetch: 1, connections: 3 };
    case "wait":
      return { tokens: inFlight, prefetch: 1, connections: 3 };
    default:
      return drains;
  }
}

export async function openSystem(setup: Setup): Promise<QueueSystem> {
  const { url, work, processes, limit, keeps } = setup;
  const shape = shapeOf(setup);
  let handle: Handle = async () => undefined;
  const task = defineTask<Payload>({
    name: "work",
    limit: work === "limit" ? limit : shape.tokens * processes,
    prefetch: shape.prefetch,
    concurrencyPerWorker: shape.tokens,
    ...(keeps ? {} : { retain: { doneMs: 0 } }),
    ...(work === "groups" ? { group: { by: "group" } } : {}),
    run: (payload) => handle(payload),
  });
  process.env["TASKGATE_DATABASE_URL"] = url;
  process.env["TASKGATE_CONNECTIONS_MAX"] = String(shape.connections);
  process.env["TASKGATE_LOG_LEVEL"] = "error";
  const client = createClient({ store: url, tasks: [task], connectionsMax: setup.callers });
  const unfinished = new Counting(url, "select count(*)::int as count from taskgate.task");
  const ending = new AbortController();
  let working: Promise<void> | null = null;
  let end = async (): Promise<void> => undefined;
  return {
    settings: `prefetch ${shape.prefetch}, ${shape.tokens} at once per process, connections ${shape.connections} + 1${keeps ? "" : ", retain.doneMs 0"}`,
    prepare: async () => {
      const command = fileURLToPath(import.meta.resolve("taskgate/package.json"));
      const main = command.replace(/package\.json$/, "lib/cli/main.js");
      await promisify(execFile)(process.execPath, [main, "migrate", "--db", url]);
    },
    enqueueBulk: async (payloads, dueAt) => {
      await client.enqueueMany(task, payloads, dueAt === null ? {} : { runAt: dueAt });
    },
    enqueueOne: async (payload) => {
      await client.enqueue(task, payload);
    },
    work: async (given) => {
      handle = given;
      const gate = taskgate({ tasks: [task] });
      end = () => gate.end();
      working = gate.work({ signal: ending.signal });
    },
    unfinished: () => unfinished.count(),
    close: async () => {
      ending.abort();
      await working;
      await end();
      await client.close();
      await unfinished.close();
    },
  };
}
