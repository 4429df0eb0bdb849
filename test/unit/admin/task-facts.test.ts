import { expect, jest, test } from "@jest/globals";
import { createAdmin } from "../../../shared/admin/create-admin";
import { nodeTimers } from "../../../shared/platform/node-timers";
import { realRandom } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { enqueueOne, registration } from "../../support/builders";

test("the facts of a task cost one read, where its reasons cost more", async () => {
  const store = new MemoryTaskStore({
    clock: { now: () => 1_700_000_000_000 },
    random: realRandom,
  });
  const admin = createAdmin({
    ...{ store, random: realRandom, timers: nodeTimers, build: 1, traceUrl: null },
    wakeUp: { hint: () => Promise.resolve() },
  });
  await store.registerDefinition(registration({ name: "mail" }));
  const task = await enqueueOne(store, "mail");
  const reads = [
    jest.spyOn(store, "explainTask"),
    jest.spyOn(store, "listDefinitions"),
    jest.spyOn(store, "readPace"),
  ];
  const counted = (): number[] => reads.map(({ mock }) => mock.calls.length);

  const facts = await admin.facts(task);
  expect(counted()).toEqual([1, 0, 0]);
  const explained = await admin.explain(task);
  expect(counted()).toEqual([2, 1, 1]);
  expect(facts).toEqual(explained.facts);
});
