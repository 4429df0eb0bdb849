import { expect, test } from "@jest/globals";
import { instantMs } from "../../../shared/core/instant";
import { defineTask } from "../../../shared/worker/define/define-task";
import { TestBench } from "../../../shared/testing";

test("an instant is one that the databases can keep: of the years 1 to 9999", () => {
  for (const text of ["0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"])
    expect(instantMs("at", new Date(text))).toBe(Date.parse(text));
  for (const ms of [Date.parse("0001-01-01T00:00:00.000Z") - 1, 8.64e15]) {
    const at = new Date(ms);
    expect(() => instantMs("at", at)).toThrow(
      `at: expected an instant of the years 1 to 9999 (${at.toISOString()})`,
    );
  }
  expect(() => instantMs("at", new Date("none"))).toThrow("at: expected an instant (Invalid Date)");
});

test("the memory store takes no later instant than a database", async () => {
  const task = defineTask({ name: "later", run: () => Promise.resolve() });
  const bench = new TestBench([task]);
  const runAt = new Date(8.64e15);
  await expect(bench.enqueue(task, {}, { runAt })).rejects.toThrow("runAt: expected an instant of");
});
