import { expect, test } from "@jest/globals";
import { runDoctor } from "../../../shared/admin/doctor";
import { realRandom } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { registration } from "../../support/builders";

async function findingsOf(builds: Readonly<Record<string, number>>): Promise<string[]> {
  const store = new MemoryTaskStore({ clock: { now: () => 0 }, random: realRandom });
  for (const [name, build] of Object.entries(builds))
    await store.registerDefinition(registration({ name, build }));
  const { findings } = await runDoctor({ store, build: 1, deep: false, probes: [] });
  return findings.filter(({ check }) => check === "build numbers").map(({ text }) => text);
}

test("the doctor names definitions that were registered without a build number, and the command that helps", async () => {
  expect(await findingsOf({ a: 0, b: 1, c: 0 })).toEqual([
    "Registered without a build number: a, c. In a rollout, releases then overwrite each other's settings in turn. Run `npx taskgate stamp` at the end of the app's build, or set TASKGATE_BUILD.",
  ]);
});

test("the doctor says nothing of builds where each definition has a number", async () => {
  expect(await findingsOf({ a: 1, b: 2 })).toEqual([]);
});
