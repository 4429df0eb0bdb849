import { describe, expect, test } from "@jest/globals";
import type { TaskStore } from "../../shared/ports/task-store";
import { define, operationId, startWorker, uniqueName } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { damagedText, damagedTokens } from "./planted-token-faults";
import { inDialect } from "./two-dialects";

/** Several shared limits beside each other, the longest name, and one whose tokens are damaged. */
export function describeSharedLimitLists(setup: StoreSetup): void {
  describe("a list of several shared limits", () => {
    describeSeveral(setup);
  });
  describe("a list of one shared limit", () => {
    describeOne(setup);
  });
}

/** All of them, as name, tokens held, and what each definition holds. */
async function listed(store: TaskStore, name?: string): Promise<unknown[]> {
  const { sharedLimits } = await store.listSharedLimits({
    ...(name === undefined ? {} : { name }),
    max: 1_000,
  });
  return sharedLimits.map((one) => [one.name, one.held, one.definitions]);
}

function describeSeveral(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const limit of [9, null]) {
    test(`the list tells of each shared limit the tokens held of it alone, limit ${String(limit)}`, async () => {
      const { store } = open();
      const [a, b] = ["a", "b"].map((prefix) => ({ name: uniqueName(prefix), limit }));
      if (a === undefined || b === undefined) throw new Error("two limits are expected");
      const [both, first, second] = ["both", "first", "second"].map((prefix) => uniqueName(prefix));
      await define(store, { limit: 5, sharedLimits: [b, a] }, both);
      await define(store, { limit: null, sharedLimits: [a] }, first);
      await define(store, { limit: 4, sharedLimits: [b] }, second);
      await startWorker(store, String(both), { want: 2 });
      await startWorker(store, String(first), { want: 1 });
      await startWorker(store, String(second), { want: 4 });
      expect(await listed(store)).toEqual([
        [
          a.name,
          3,
          [
            { name: both, held: 2 },
            { name: first, held: 1 },
          ],
        ],
        [
          b.name,
          6,
          [
            { name: both, held: 2 },
            { name: second, held: 4 },
          ],
        ],
      ]);
    });
  }
}

function describeOne(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the list finds a name of 200 characters, and none that is longer and begins with it", async () => {
    const { store } = open();
    const name = "n".repeat(200);
    const input = { name, limit: 1, operationId: operationId(), changedBy: "an operator" };
    await store.setSharedLimit(input);
    expect(await listed(store, name)).toEqual([[name, 0, []]]);
    expect(await listed(store, `${name}n`)).toEqual([]);
  });

  testWith(setup, "raw sql")(
    "the list of a shared limit grants no token of a text that can't be read; the text itself is counted",
    async () => {
      const opened = open();
      const { store } = opened;
      const shared = uniqueName("shared");
      const name = await define(store, {
        limit: null,
        sharedLimits: [{ name: shared, limit: 5 }],
      });
      const { number } = await startWorker(store, name);
      expect(await listed(store)).toEqual([[shared, 1, [{ name, held: 1 }]]]);
      opened.expectDamage();
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      for (const { why, token } of damagedTokens) {
        const text = damagedText(token).replace(/G:0$/, `G:${number}`);
        const sql = `UPDATE taskgate.shared_limit SET execution_tokens = '${text}'`;
        await opened.raw(inDialect(dialect, sql, new Map()));
        expect([why, await listed(store)]).toEqual([why, [[shared, 1, [{ name, held: 0 }]]]]);
      }
    },
  );
}
