import { define, done, enqueue, startWorker } from "../../support/builders";
import type { Worker } from "../../support/builders";
import type { NewTask, WorkAnswer } from "../../../shared/ports/task-store";
import { measure } from "./measure";
import type { Situation } from "./situation";
import type { Scene } from "./scenario";

/* `Work` as a worker calls it: it completes some tasks, reports as many as started, and claims from the last place on. */

type Template = Parameters<typeof measure>[0];

interface Call {
  readonly what: string;
  /** Tasks that the call completes, and as many that it reports as started. */
  readonly count: number;
  /** Ready tasks behind those that were claimed. */
  readonly left: number;
  readonly task?: (at: number) => Partial<NewTask>;
  readonly hasRate?: boolean;
}

const calls: readonly Call[] = [
  { what: "8", count: 8, left: 100 },
  { what: "100", count: 100, left: 1_000 },
  { what: "8, as the last tasks are claimed", count: 8, left: 4 },
  { what: "8, under a rate", count: 8, left: 100, hasRate: true },
  {
    what: "100 of as many groups, each with one that waits",
    count: 100,
    left: 1_000,
    task: (at) => ({ group: `g${String(at % 200)}` }),
  },
];

/** One line per call; `prefetchMax` is the default, 1. */
export async function workFigures(template: Template): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const call of calls) {
    const { tally } = await measure(template, call.count, (scene) => prepare(scene, call));
    found.push({
      name: `Work, completes, starts and claims ${call.what}`,
      figures: {
        statements: tally.statements,
        "in functions": tally.functionStatements,
        passes: tally.passes,
      },
    });
  }
  return found;
}

/** A worker that has claimed twice as many tasks as it has tokens: half of them are started. */
async function prepare(
  { store, name }: Scene,
  { count, left, task = () => ({}), hasRate = false }: Call,
): Promise<() => Promise<unknown>> {
  await define(store, { limit: null }, name);
  if (hasRate)
    await store.setRate({
      name,
      rate: { count: 1_000, periodMs: 1_000, burst: 1_000 },
      changedBy: "operator",
    });
  const tasks = Array.from({ length: 2 * count + left }, (_, at) => task(at));
  await enqueue(store, name, tasks);
  const worker = await startWorker(store, name, { want: count });
  const answer = await worker.work({ want: 2 * count });
  return () => nextCall(worker, answer, count);
}

function nextCall(
  worker: Worker,
  { claimed, last: after }: WorkAnswer,
  count: number,
): Promise<WorkAnswer> {
  return worker.work({
    done: claimed.slice(0, count).map((task) => done(task, { result: "{}" })),
    started: claimed.slice(count).map(({ taskId }) => taskId),
    want: count,
    ...(after === null ? {} : { after }),
  });
}
