import { getEventListeners } from "node:events";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { useContention } from "../support/use-contention";

/* A signal breaks off the statement that it was given with, and nothing that comes after it on the same connection. */

const scene = useContention();
let store: TaskStore;

beforeEach(() => {
  // Every transaction has the same connection.
  store = scene.openStore(1);
});

function statement(text: string, signal?: AbortSignal): Promise<unknown> {
  return store.transaction((transaction) =>
    transaction.query(text, [], signal === undefined ? {} : { signal }),
  );
}

describe("a signal that is aborted", () => {
  test("a signal that is aborted when its statement is over leaves the next one on that connection alone", async () => {
    const stopping = new AbortController();
    await statement("select 1", stopping.signal);
    const next = statement("select pg_sleep(1)");
    await sleep(300);
    stopping.abort();
    await expect(next).resolves.toBeDefined();
  });

  test("a signal that is aborted as its statement ends leaves the next one alone, too", async () => {
    for (let turn = 0; turn < 40; turn += 1) {
      const stopping = new AbortController();
      const short = statement("select pg_sleep(0.01)", stopping.signal).catch(() => undefined);
      await sleep(5 + (turn % 10));
      stopping.abort();
      await short;
      await expect(statement("select pg_sleep(0.03)")).resolves.toBeDefined();
    }
  });
});

test("statements leave no listeners behind at a signal that outlives them", async () => {
  const { signal } = new AbortController();
  for (let turn = 0; turn < 20; turn += 1) await statement("select 1", signal);
  await expect(statement("select 1 / 0", signal)).rejects.toThrow("division by zero");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
