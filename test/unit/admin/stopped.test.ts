import { describe, expect, test } from "@jest/globals";
import { enqueueOne, registration } from "../../support/builders";
import { openMemoryAdmin } from "./memory-admin";

/* Goal: while everything is stopped, no view sends the operator to a command that takes one part out of the stop. */
async function openStopped() {
  const { store, admin } = openMemoryAdmin();
  for (const name of ["mail", "held"]) await store.registerDefinition(registration({ name }));
  await admin.pause({ definition: "held", changedBy: "bob", reason: "the partner is down" });
  await admin.stopAll({ changedBy: "ada", reason: "the database moves" });
  return { store, admin };
}

const stopped =
  "Everything was stopped by ada (the database moves): `taskgate resume --all` ends it.";

describe("while everything is stopped", () => {
  test("the doctor says it once, and names the resume of what was paused by itself", async () => {
    const { admin } = await openStopped();
    const { findings } = await admin.doctor({ deep: false });
    const texts = findings.map(({ text }) => text);
    expect(texts.filter((text) => text === stopped)).toHaveLength(1);
    expect(texts.filter((text) => text.includes("`taskgate resume "))).toEqual([
      stopped,
      "Paused by an operator; 0 tasks wait. `taskgate resume held` lets them run.",
    ]);
  });

  test("the explanation of a task names the stop, and the own pause of another definition", async () => {
    const { store, admin } = await openStopped();
    const sentences = await Promise.all(
      ["mail", "held"].map(async (name) => {
        const { reasons } = await admin.explain(await enqueueOne(store, name));
        return reasons.find(({ code }) => code === "paused")?.sentence;
      }),
    );
    expect(sentences).toEqual([
      stopped,
      "Definition `held` is paused by an operator: nothing starts until `taskgate resume held`.",
    ]);
  });
});
