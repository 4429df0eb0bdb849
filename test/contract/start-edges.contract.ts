import { describe, expect, test } from "@jest/globals";
import { define, setLimit, startInput, startWorker, uniqueName } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** Whose denial is noted, and what a repeat changes. */
export function describeStartEdges(setup: StoreSetup): void {
  describe("a denied start", () => {
    describeDenials(setup);
  });
  describe("an operation id of another definition", () => {
    describeForeignIds(setup);
  });
}

function describeDenials(setup: StoreSetup): void {
  const open = useStore(setup);

  test("by a shared limit is noted also while the definition has free tokens of its own", async () => {
    const { store } = open();
    const sharedLimits = [{ name: uniqueName("shared"), limit: 4 }];
    const name = await define(store, { limit: 9, sharedLimits });
    await startWorker(store, name, { worker: "rich", want: 4 });
    const denied = await store.startExecution(startInput(name, { worker: "poor" }));
    expect(denied).toMatchObject({ status: "limited", demand: "noted" });
  });

  test("is noted under a limit of 1 while somebody holds more from before, and not where nothing may start", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    await startWorker(store, name, { worker: "rich", want: 3 });
    const ask = () => store.startExecution(startInput(name, { worker: "poor" }));
    await setLimit(store, name, 0);
    expect(await ask()).toMatchObject({ status: "limited", demand: null });
    await setLimit(store, name, 1);
    expect(await ask()).toMatchObject({ status: "limited", demand: "noted" });
  });
}

function describeForeignIds(setup: StoreSetup): void {
  const open = useStore(setup);

  testWith(setup, "exact clock")("is refused, and that one's lease stays as it is", async () => {
    const opened = open();
    const { store } = opened;
    const [own, other] = [await define(store), await define(store)];
    const first = startInput(own);
    await store.startExecution(first); // for a minute
    await opened.advance(5_000);
    const repeat = { ...first, name: other };
    await expectError(store.startExecution(repeat), { code: "TASKGATE_ARG_CONFLICT" });
    const { executions } = await store.listExecutions({ name: own, isOpen: true, most: 1 });
    expect(executions).toMatchObject([{ leaseLeftMs: 55_000 }]);
  });
}
