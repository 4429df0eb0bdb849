import type { EngineName } from "../../tsql-server/engine/options";
import { defineKind } from "../../contract/kind-rules";
import { define, enqueue, startWorker } from "../../support/builders";
import { measure, worldWithGhosts } from "./measure";
import type { Cost } from "./measure";
import { startedTasks } from "./scene";
import type { Situation } from "./situation";
import { spreadFigures } from "./spread-figures";
import { promotedFigures, scheduleFigures, waitingFigures } from "./scheduled-figures";
import { roughTokenFigures, tokenFigures } from "./token-figures";
import { workFigures } from "./work-figures";

/*
 * The figures by which the T-SQL is to become cheaper: what a task's life costs, what tokens cost when there are many, what
 * calls read when much waits. Each line of `expected-life.txt` is one situation.
 */

/** All of them; the same numbers each time. */
export async function measureLife(engine: EngineName): Promise<Situation[]> {
  const template = worldWithGhosts(engine);
  return [
    ...(await lifeFigures(template)),
    ...(await lifeFigures(template, chinese)).slice(0, 1),
    ...(await wholeLives(template)),
    ...(await workFigures(template)),
    ...(await tokenFigures(template)),
    ...(await roughTokenFigures(template)),
    ...(await enqueueFigures(template)),
    ...(await scheduleFigures(template)),
    ...(await promotedFigures(template)),
    ...(await waitingFigures(template)),
    ...(await spreadFigures()),
  ];
}

/** `a task of 300 bytes, ..: log bytes 2412, ..`. */
export function recordOfLife(situations: readonly Situation[]): string[] {
  return situations.map(({ name, figures }) => {
    const counts = Object.entries(figures).map(([what, count]) => `${what} ${String(count)}`);
    return `${name}: ${counts.join(", ")}`;
  });
}

const batch = 100;

/** JSON of exactly 300 bytes of UTF-8: all of them ASCII; the text Chinese, three bytes a character. */
const payload = JSON.stringify({ text: "x".repeat(300 - '{"text":""}'.length) });
const chinese = JSON.stringify({ text: `x${"\u4e2d".repeat(96)}` });

type Template = Parameters<typeof measure>[0];

/** A worker in full swing: each call of `Work` completes a hundred tasks and claims as many. */
export async function lifeFigures(template: Template, text = payload): Promise<Situation[]> {
  const tasks = Array.from({ length: batch }, () => ({ payload: text }));
  const enqueued = await measure(template, batch, async ({ store, name }) => {
    await define(store, { limit: null, prefetchMax: 1000 }, name);
    return () => enqueue(store, name, tasks);
  });
  const worked = await measure(template, batch, async (scene) => {
    const { worker } = await startedTasks({ ...scene, batch: 0 });
    await enqueue(scene.store, scene.name, [...tasks, ...tasks]);
    const claimed = await worker.claim(batch);
    return () => worker.complete(claimed, batch);
  });
  const perTask = (count: (cost: Cost) => number): number =>
    Number(((count(enqueued) + count(worked)) / batch).toFixed(1));
  return [
    {
      name: `a task of 300 bytes${text === payload ? "" : ", Chinese"}, enqueued, claimed and completed by 100`,
      figures: {
        "log bytes": perTask(({ tally }) => tally.logBytes),
        "version bytes": perTask(({ tally }) => tally.versionBytes),
        "stored bytes": perTask(({ tally }) => tally.storedBytes),
        "index writes": perTask(({ tally }) => tally.indexWrites),
        seeks: perTask(({ tally }) => tally.seeks),
      },
    },
    {
      name: "Work, completes 100 and claims 100",
      figures: {
        statements: worked.tally.statements,
        "in functions": worked.tally.functionStatements,
        passes: worked.tally.passes,
      },
    },
  ];
}

/** With the purge, for both choices of `keepPayload`: what the one writes at the end of a task the other writes when it is deleted. */
async function wholeLives(template: Template): Promise<Situation[]> {
  const found: Situation[] = [];
  for (const [size, text] of [
    ["300", payload],
    ["8,000", JSON.stringify({ text: "x".repeat(8_000 - '{"text":""}'.length) })],
  ] as const)
    for (const keepPayload of [true, false]) {
      const { enqueued, worked, purged } = await wholeLife(template, text, keepPayload);
      const logOf = (...costs: Cost[]): number =>
        Number((costs.reduce((sum, { tally }) => sum + tally.logBytes, 0) / batch).toFixed(1));
      found.push({
        name: `a task of ${size} bytes by 100, its payload ${keepPayload ? "kept" : "not kept"}`,
        figures: {
          "log bytes until it is done": logOf(enqueued, worked),
          "of its purge": logOf(purged),
          "of both": logOf(enqueued, worked, purged),
        },
      });
    }
  return found;
}

async function wholeLife(
  template: Template,
  text: string,
  keepPayload: boolean,
): Promise<{ enqueued: Cost; worked: Cost; purged: Cost }> {
  const tasks = Array.from({ length: batch }, () => ({ payload: text }));
  const settings = { limit: null, prefetchMax: 1000, retainDoneMs: 60_000, keepPayload };
  const enqueued = await measure(template, batch, async ({ store, name }) => {
    await define(store, settings, name);
    return () => enqueue(store, name, tasks);
  });
  const worked = await measure(template, batch, async ({ store, name }) => {
    await define(store, settings, name);
    const worker = await startWorker(store, name);
    await enqueue(store, name, [...tasks, ...tasks]);
    const claimed = await worker.claim(batch);
    return () => worker.complete(claimed, batch);
  });
  const purged = await measure(template, batch, async ({ store, name, world }) => {
    await define(store, settings, name);
    const worker = await startWorker(store, name);
    await enqueue(store, name, tasks);
    await worker.complete(await worker.claim(batch));
    world.clock += 120_000;
    return () => store.purge({ max: batch });
  });
  return { enqueued, worked, purged };
}

/** One call with as many tasks as a call may have. */
async function enqueueFigures(template: Template): Promise<Situation[]> {
  const order = JSON.stringify({ order: { id: "A-7" } });
  const found: Situation[] = [];
  for (const { kind, task, groupBy } of [
    { kind: "plain", task: () => ({}) },
    { kind: "in as many groups", task: (at: number) => ({ group: `g${String(at)}` }) },
    {
      kind: "whose group is in the payload",
      task: () => ({ payload: order }),
      groupBy: "order.id",
    },
  ]) {
    const { tally } = await measure(template, 1, async ({ store, name }) => {
      await (groupBy === undefined
        ? define(store, {}, name)
        : defineKind(store, { groupBy }, name));
      const tasks = Array.from({ length: 10_000 }, (_, at) => task(at));
      return () => enqueue(store, name, tasks);
    });
    found.push({
      name: `EnqueueTasks, 10,000 tasks ${kind}`,
      figures: { statements: tally.statements, "in functions": tally.functionStatements },
    });
  }
  return found;
}
