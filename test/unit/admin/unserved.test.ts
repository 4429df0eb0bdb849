import { expect, test } from "@jest/globals";
import { runDoctor } from "../../../shared/admin/doctor";
import { realRandom } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { enqueue, operationId, registration, startWorker } from "../../support/builders";

/* Goal: the doctor tells of tasks that could run and that no worker takes, and of no others. */

const minuteMs = 60_000;

/** A store with one definition and two ready tasks, and what the doctor says of it after some minutes. */
async function openScene() {
  let nowMs = 1_700_000_000_000;
  const store = new MemoryTaskStore({ clock: { now: () => nowMs }, random: realRandom });
  await store.registerDefinition(
    registration({ name: "notify", build: 1, settings: { limit: 2 } }),
  );
  await enqueue(store, "notify", 2);
  const textsAfter = async (minutes: number): Promise<string[]> => {
    nowMs += minutes * minuteMs;
    const { findings } = await runDoctor({ store, build: 1, deep: false, probes: [] });
    return findings.filter(({ text }) => text.includes("no worker takes")).map(({ text }) => text);
  };
  return { store, textsAfter };
}

test("the doctor names a definition whose tasks are ready for minutes without a worker", async () => {
  const { textsAfter } = await openScene();
  expect(await textsAfter(12)).toEqual([
    "2 tasks are ready, for 12 min by now, and no worker takes them. Does an app run that has `notify`? Where the task, its function or the app was renamed, give it the old name back until its tasks are done.",
  ]);
});

test("the doctor says of how many definitions it didn't look the wait up", async () => {
  const { store, textsAfter } = await openScene();
  for (let n = 0; n < 24; n += 1) {
    const name = `unserved-${String(n)}`;
    await store.registerDefinition(registration({ name, build: 1 }));
    await enqueue(store, name, 1);
  }
  expect(await textsAfter(12)).toHaveLength(20);
  const { findings } = await runDoctor({ store, build: 1, deep: false, probes: [] });
  expect(findings.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^5 more have ready tasks and no worker .* first 20 alone/),
  );
});

test("the doctor says nothing of tasks that the next sweep may find", async () => {
  const { textsAfter } = await openScene();
  expect(await textsAfter(4)).toEqual([]);
});

test("the doctor says nothing of tasks that a worker serves", async () => {
  const { store, textsAfter } = await openScene();
  await textsAfter(12);
  await startWorker(store, "notify");
  expect(await textsAfter(0)).toEqual([]);
});

test("the doctor says nothing of tasks that are held up on purpose", async () => {
  const { store, textsAfter } = await openScene();
  await store.pauseDefinition({ name: "notify", changedBy: "test" });
  expect(await textsAfter(12)).toEqual([]);
  await store.resumeDefinition({ name: "notify", changedBy: "test" });
  await store.setLimit({ name: "notify", limit: 0, operationId: operationId(), changedBy: "test" });
  expect(await textsAfter(0)).toEqual([]);
});
