import { getEventListeners } from "node:events";
import { expect, test } from "@jest/globals";
import { joinSignals } from "../../../shared/core/join-signals";

test("a joined signal aborts with the first source that does, and with its reason", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = joinSignals(one.signal, other.signal);
  expect(signal.aborted).toBe(false);
  other.abort("enough");
  expect([signal.aborted, signal.reason]).toEqual([true, "enough"]);
  one.abort("too late");
  expect(signal.reason).toBe("enough");
});

test("a joined signal is aborted where a source is", () => {
  const { signal } = joinSignals(new AbortController().signal, AbortSignal.abort("before"));
  expect([signal.aborted, signal.reason]).toEqual([true, "before"]);
});

test("a joined signal that was left stays as it is, and leaves nothing at its sources", () => {
  const source = new AbortController();
  for (let call = 0; call < 100; call += 1) joinSignals(source.signal).leave();
  const { signal, leave } = joinSignals(source.signal);
  leave();
  expect(getEventListeners(source.signal, "abort")).toHaveLength(0);
  source.abort();
  expect(signal.aborted).toBe(false);
});
