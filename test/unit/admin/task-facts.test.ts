import { expect, jest, test } from "@jest/globals";
import { enqueueOne, registration } from "../../support/builders";
import { openMemoryAdmin } from "./memory-admin";

test("the facts of a task cost one read, where its reasons cost more", async () => {
  const { store, admin } = openMemoryAdmin();
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
