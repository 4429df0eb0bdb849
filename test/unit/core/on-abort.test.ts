import { getEventListeners } from "node:events";
import { expect, test } from "@jest/globals";
import { onAbort } from "../../../shared/core/on-abort";

test("onAbort calls all that are left, once, by one listener, which goes with the last of them", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const called: number[] = [];
  const leaves = [1, 2, 3].map((each) => onAbort(signal, () => called.push(each)));
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  for (const leave of leaves) leave();
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  const leave = onAbort(signal, () => called.push(4));
  onAbort(signal, () => called.push(5));
  onAbort(signal, () => called.push(6));
  leave();
  leave();
  controller.abort();
  expect(called).toEqual([5, 6]);
});
