import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { nodeTimers } from "../../shared/platform/node-timers";
import { sleep } from "../../shared/platform/real-clock";
import { openListener } from "../../shared/store/open-store";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";
import type { TestDatabase } from "../support/test-postgres";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("a process that waits for several definitions sends one query at a time", async () => {
  const warnings: string[] = [];
  const note = (warning: Error): void => void warnings.push(warning.message);
  process.on("warning", note);
  const listener = openListener({
    url: urlAs(database.url, "worker"),
    timers: nodeTimers,
    events: { onNews: () => undefined, onListening: () => undefined, onTrouble: () => undefined },
  });
  while (listener?.isListening === false) await sleep(10);
  const names = ["a", "b", "c", "d"];
  await Promise.all(names.map((name) => listener?.wait(name)));
  for (const name of names) listener?.stopWaiting(name);
  await Promise.all(names.map((name) => listener?.wait(name)));
  await listener?.close();
  await sleep(10);
  process.off("warning", note);
  expect(warnings).toEqual([]);
});
