import { expect, test } from "@jest/globals";
import {
  StoreConflictError,
  StoreContractError,
  StoreForbiddenError,
  StoreUnavailableError,
  StoreUncertainError,
} from "../../../shared/core/errors";
import { asTaskId } from "../../../shared/core/ids";
import type { TaskStore } from "../../../shared/ports/task-store";
import { returnInMs } from "../../../shared/worker/run/store-trouble";

const task = asTaskId("7");
const away = new StoreUnavailableError("away");
const newStore = (): TaskStore => ({}) as TaskStore;

test("a task comes back later each time, and its sixteenth trouble in a row counts", () => {
  const store = newStore();
  const pauses = Array.from({ length: 18 }, () => returnInMs(store, task, away));
  expect(pauses.slice(0, 8)).toEqual([1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 60_000]);
  expect(pauses.indexOf(null)).toBe(15);
  expect(pauses.slice(16)).toEqual([1_000, 2_000]);
});

test("each task of each store has its own count", () => {
  const [first, second] = [newStore(), newStore()];
  returnInMs(first, task, away);
  expect(returnInMs(first, asTaskId("8"), away)).toBe(1_000);
  expect(returnInMs(second, task, away)).toBe(1_000);
  expect(returnInMs(first, task, away)).toBe(2_000);
});

test.each([
  [new StoreConflictError("busy"), 1_000],
  [new StoreUncertainError("lost"), 1_000],
  [new StoreForbiddenError("no right"), null],
  [new StoreContractError("damaged"), null],
  [new Error("of the handler"), null],
])("%s returns a task after %s ms", (error, expected) => {
  expect(returnInMs(newStore(), task, error)).toBe(expected);
});
