import { describe, expect } from "@jest/globals";
import { asTaskId } from "../../shared/core/ids";
import { readBlock } from "../docs/markdown";
import { at, define, done, enqueue, factsOf, startWorker } from "../support/builders";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

const page = "docs/operate/retention.md";
const markers = { postgres: "erase-postgres", mssql: "erase-mssql" } as const;

/** The page's statements of that dialect, about this task. */
function eraseTask(dialect: keyof typeof markers, taskId: string): string[] {
  const statements = readBlock(page, markers[dialect])
    .text.replace(/^--.*\n/, "")
    .replaceAll(/\b42\b/g, taskId)
    .split(/;\n/)
    .map((statement) => statement.trim())
    .filter((statement) => !["", "begin", "commit"].includes(statement));
  expect(statements.length).toBeGreaterThan(2);
  return statements;
}

/** What docs/operate/retention.md says of a person's data, as pasted by the owner of the schema. */
export function describeErasure(setup: StoreSetup): void {
  describe("the statements that erase a task's data", () => {
    const open = useStore(setup);

    testWith(setup, "raw sql")(
      "the statements that erase a task's data take payload, result and errors of that task, leave its neighbours as they are, and break no promise",
      async () => {
        const opened = open();
        const { store } = opened;
        const name = await define(store, { limit: 10, retryAttempts: 2 });
        const ids = await enqueue(
          store,
          name,
          [1, 2, 3, 4, 5].map((n) => ({ payload: `{"n":${String(n)}}` })),
        );
        const worker = await startWorker(store, name, { want: 10 });
        const claimed = await worker.claim(5);
        const ends = claimed.slice(0, 3).map((task) => done(task, { result: '{"ok":true}' }));
        await worker.work({ done: ends });
        await worker.complete([at(claimed, 3)]);
        await worker.fail([at(claimed, 4)], { as: "failed", error: "Ada's card", retryInMs: 0 });
        await worker.fail([await worker.claimOne()], { as: "dead", error: "Ada's card again" });

        const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
        const erased = [at(ids, 1), at(ids, 3), at(ids, 4)];
        for (const taskId of erased)
          for (const statement of eraseTask(dialect, taskId)) await opened.raw(statement);

        for (const taskId of erased) {
          const facts = await factsOf(store, asTaskId(taskId));
          expect([facts.payload, facts.result ?? null, facts.error]).toEqual([null, null, null]);
          expect(JSON.stringify(facts)).not.toContain("Ada");
        }
        for (const index of [0, 2]) {
          expect(await factsOf(store, at(ids, index))).toMatchObject({
            ...{ state: "done", payload: `{"n":${String(index + 1)}}`, result: '{"ok":true}' },
          });
        }
        expect(await factsOf(store, at(ids, 4))).toMatchObject({ state: "dead", failedCount: 2 });
        expect(await store.checkInvariants()).toEqual({ status: "sound", findings: [] });
      },
    );
  });
}
