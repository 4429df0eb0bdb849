import { expect, test } from "@jest/globals";
import { runDoctor } from "../../../shared/admin/doctor";
import { realRandom } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { enqueueOne, registration } from "../../support/builders";

test("the deep doctor names a broken promise in words, with the row that breaks it", async () => {
  const store = new MemoryTaskStore({ clock: { now: () => 0 }, random: realRandom });
  await store.registerDefinition(registration({ name: "mail" }));
  const taskId = await enqueueOne(store, "mail");
  store.damage((state) => {
    state.ready = [];
  });
  const { status, findings } = await runDoctor({ store, build: 1, deep: true, probes: [] });
  expect(status).toBe("broken");
  expect(findings.filter(({ check }) => check === "promises")).toEqual([
    {
      status: "broken",
      check: "promises",
      text: `each unfinished task stands in exactly one place (${taskId}: nowhere)`,
    },
  ]);
});
