import { processEnds, writeErrorNow } from "../../shared/platform/process-ends";
import { defineTask } from "../../shared/worker/define/define-task";
import { watchEndsByTasks } from "../../shared/worker/run/ended-by-task";
import { openWorkerBench } from "../unit/worker/worker-bench";

/* A process with one worker, whose handler ends it as the first argument says. Of two gates one watches. */

const ways: Record<string, () => void> = {
  "exit 0": () => process.exit(0),
  "exit 3": () => process.exit(3),
  "exit later": () => void setTimeout(() => process.exit(), 20),
  "throw later": () =>
    void setTimeout(() => {
      throw new Error("in a timer");
    }, 20),
};

async function main(how: string): Promise<void> {
  const task = defineTask({
    name: "rash",
    run: async () => {
      ways[how]?.();
      if (how.endsWith("later")) await new Promise(() => undefined);
    },
  });
  const bench = openWorkerBench([task]);
  watchEndsByTasks(processEnds, writeErrorNow);
  watchEndsByTasks(processEnds, writeErrorNow);
  await bench.client.enqueue(task);
  await bench.work("rash");
  process.exit(Number(how.replace("own exit ", "")));
}

void main(process.argv[2] ?? "");
