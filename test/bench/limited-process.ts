import { sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openBench } from "./bench-environment";
import { limitedTask } from "./limited-tasks";

/* One of the processes of a limit scenario: url, limit, milliseconds added to each call of the store. Works until SIGTERM. */
const [url = "", limitText = "", delayText = ""] = process.argv.slice(2);
const limit = Number(limitText);
const task = limitedTask(limit);
const bench = openBench(url, [task], { decorate: (store) => slowed(store, Number(delayText)) });
const stop = new AbortController();
process.on("SIGTERM", () => {
  stop.abort();
});

/** The store, as if it were so far away. */
function slowed(store: TaskStore, delayMs: number): TaskStore {
  if (delayMs === 0) return store;
  return new Proxy(store, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== "function") return member;
      return async (...given: unknown[]): Promise<unknown> => {
        await sleep(delayMs);
        return (await Reflect.apply(member, target, given)) as unknown;
      };
    },
  });
}

async function main(): Promise<void> {
  while (!stop.signal.aborted) {
    const result = await bench.work(task.definition.name, {
      concurrency: limit,
      signal: stop.signal,
    });
    if (result.status !== "worked") await sleep(50);
  }
  await bench.close();
}

void main().then(() => process.exit(0));
