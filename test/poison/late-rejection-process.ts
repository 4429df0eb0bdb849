import { createRequire } from "node:module";
import { sleep } from "../../shared/platform/real-clock";
import { processRejections } from "../../shared/platform/process-rejections";
import { defineTask } from "../../shared/worker/define/define-task";
import type * as Watch from "../../shared/worker/run/late-rejections";
import { watchLateRejections } from "../../shared/worker/run/late-rejections";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { taskRequest } from "../../shared/worker/define/task-ref";

/*
 * A process with one worker, whose handlers forget promises. Prints one line of JSON at its end. `foreign`: afterwards a promise
 * of no task is rejected; `two gates`: the same, and two watch; `two copies`: the
 * same, and the second is of another copy of the package; `unwatched`: none does.
 */

const forgotten: Record<string, () => void> = {
  "at once": () => void Promise.reject(new Error("rejected at once")),
  "after its end": () => void sleep(60).then(() => Promise.reject(new Error("rejected late"))),
  "with a proxy": () => {
    const refuse = (): never => {
      throw new Error("a trap threw");
    };
    void sleep(20).then(() =>
      Promise.reject(new Proxy(new Error("x"), { get: refuse, getPrototypeOf: refuse })),
    );
  },
};

const task = defineTask<{ leaves: string | null }>({
  name: "forgetful",
  limit: 8,
  run: async ({ leaves }) => {
    if (leaves !== null) forgotten[leaves]?.();
    else await sleep(100);
    return { leaves };
  },
});

const foreign = new Set(["foreign", "two gates", "two copies"]);
const nothing = (): void => undefined;
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** The module as another copy of the package in this process has it. */
function anotherCopy(): typeof Watch {
  const requireAgain = createRequire(__filename);
  const path = requireAgain.resolve("../../shared/worker/run/late-rejections");
  Reflect.deleteProperty(requireAgain.cache, path);
  return requireAgain(path) as typeof Watch;
}

async function main(how: string | undefined): Promise<void> {
  const bench = openWorkerBench([task]);
  if (how !== "unwatched") watchLateRejections(processRejections, bench.environment.logger);
  if (how === "two gates") watchLateRejections(processRejections, bench.environment.logger);
  if (how === "two copies") anotherCopy().watchLateRejections(processRejections, silent);
  const leaves = [...Object.keys(forgotten), null, null, null];
  const added = await bench.client.enqueueAll(
    leaves.map((each) => taskRequest(task, { leaves: each })),
  );
  await bench.work("forgetful");
  await sleep(100);
  const { tasks } = await bench.store.listTasks({ name: "forgetful", state: "done", max: 10 });
  const said = bench.lines.filter(({ level }) => level === "error");
  process.stdout.write(
    JSON.stringify({ ids: added.map(({ taskId }) => taskId), done: tasks.length, said }) + "\n",
  );
  if (how !== undefined && foreign.has(how)) void Promise.reject(new Error("of nobody's task"));
}

void main(process.argv[2]);
