import { nodeTimers } from "../../shared/platform/node-timers";
import { sleep } from "../../shared/platform/real-clock";
import { openListener } from "../../shared/store/open-store";

/* A process that waits for four definitions at once, twice. TASKGATE_DATABASE_URL names the database. */

const names = ["a", "b", "c", "d"];

async function waitTwice(url: string): Promise<void> {
  const listener = openListener({
    url,
    timers: nodeTimers,
    events: { onNews: () => undefined, onListening: () => undefined, onTrouble: () => undefined },
  });
  while (listener?.isListening === false) await sleep(10);
  await Promise.all(names.map((name) => listener?.wait(name)));
  for (const name of names) listener?.stopWaiting(name);
  await Promise.all(names.map((name) => listener?.wait(name)));
  await listener?.close();
}

void waitTwice(process.env["TASKGATE_DATABASE_URL"] ?? "");
