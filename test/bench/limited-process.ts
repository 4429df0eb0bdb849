import { sleep } from "../../shared/platform/real-clock";
import { openBench } from "./bench-environment";
import { limited } from "./limited-task";

/* One of the three processes of the limit scenario: works until SIGTERM. */
const bench = openBench(process.argv[2] ?? "", [limited]);
const stop = new AbortController();
process.on("SIGTERM", () => {
  stop.abort();
});

async function main(): Promise<void> {
  while (!stop.signal.aborted) {
    const result = await bench.work("limited", { concurrency: 2, signal: stop.signal });
    if (result.status !== "worked") await sleep(50);
  }
  await bench.close();
}

void main().then(() => process.exit(0));
