import { afterAll, describe, expect, test } from "@jest/globals";
import { asExecutionId } from "../../../shared/core/ids";
import type { TaskStore } from "../../../shared/ports/task-store";
import { testSeed } from "../../support/builders";
import { changedStore, plantedSetup } from "../../support/planted-setup";
import type { PlantedFault } from "../../support/planted-setup";
import { postgresSetup } from "../../support/postgres-setup";
import { simulatedMssqlSetup } from "../../support/simulated-mssql-setup";
import type { StoreSetup } from "../../support/store-setup";
import { describeWhole, isWhole } from "../../support/whole";
import { runCalls, runSeed } from "./history";
import type { HistoryResult, OpenStores } from "./history";
import { openModelStore } from "./memory-store";
import { explainDifference, explainFound, readRegressions } from "./saved-histories";
import { search } from "./search";
import type { Found } from "./search";
import { historyLength, historySeeds, moreHistorySeeds } from "./seeds";
import { openSqlStore } from "./sql-stores";

/*
 * The twins are equal: random histories of all operations run on the memory store, on PostgreSQL and on the T-SQL behind its
 * endpoint, call by call. Every answer is compared, and every row at the end. Fresh seeds: npm run histories.
 */
const postgres = postgresSetup();
const tsql = simulatedMssqlSetup();
const seen = new Set<string>();

afterAll(async () => {
  await tsql.close();
  await postgres.close();
});

const open: OpenStores = async () => [
  openModelStore(),
  await openSqlStore(postgres),
  await openSqlStore(tsql),
];

function expectEqual({ difference }: HistoryResult): void {
  expect(difference === undefined ? "equal" : explainDifference(difference)).toBe("equal");
}

describe("histories answer alike and end in equal tables", () => {
  test.each([...historySeeds, ...(isWhole ? moreHistorySeeds : [])])(
    "the history of seed %i ends in equal tables",
    async (seed) => {
      const result = await runSeed(open, { seed, length: historyLength });
      for (const event of result.counts.keys()) seen.add(event);
      expectEqual(result);
      expect(result.calls).toHaveLength(historyLength);
    },
  );

  test("the histories meet what there is to meet", () => {
    const wanted = [
      "acquire paused",
      "acquire: a dead holder was found",
      "advanceWatermark advanced",
      "advanceWatermark conflict",
      "advanceWatermark: duplicate",
      "advanceWatermark: replaced",
      "cancel: cancelled",
      "cancel: requested",
      "cancelBatch again",
      "cancelBatch cancelled",
      "cancelBatch done",
      "complete again",
      "complete fenced",
      "enqueue late",
      "enqueue: duplicate",
      "enqueue: replaced",
      "explain: blocked",
      "fail: again",
      "fail: cancelled",
      "fail: continued",
      "fail: dead",
      "fail: fenced",
      "fail: retry",
      "finish: another definition woken",
      "finish: given back",
      "fireSchedule TASKGATE_ARG_INVALID",
      "fireSchedule early",
      "fireSchedule fired",
      "fireSchedule paused",
      "fireSchedule stale",
      "fireSchedule: tasks",
      "heartbeat: a cancel told",
      "heartbeat: fenced",
      "listBatches: done",
      "listBatches: running",
      "listSharedLimits: a full one",
      "listSharedLimits: held by two definitions",
      "promote promoted",
      "pumpBatch pumped",
      "purge purged",
      "reclaim: a loss",
      "reclaim: an end",
      "reclaim: more left",
      "redrive: duplicate",
      "redrive: redriven",
      "redrive: unfinished",
      "redriveFound: redriven",
      "release released",
      "releaseSurplus released",
      "reschedule: blocked",
      "reschedule: rescheduled",
      "reschedule: running",
      "resumeBatch ended",
      "resumeBatch resumed",
      "setGroup created",
      "setGroup set",
      "setGroup: another definition woken",
      "setRate set",
      "setSchedulePaused paused",
      "setSchedulePaused resumed",
      "setSchedules exists",
      "setSchedules outdated",
      "setSharedLimit created",
      "setSharedLimit: tokens over the limit",
      "setWatermark conflict",
      "setWatermark set",
      "start TASKGATE_ARG_CONFLICT",
      "start limited",
      "start outdated",
      "start: a dead holder was found",
      "startBatch started",
      "sweep: a schedule is due",
      "transaction: advanceWatermark",
      "transaction: commit",
      "transaction: rollback",
      "work TASKGATE_ARG_CONFLICT",
      "work again",
      "work limited",
      "work paused",
      "work: a checkpoint",
      "work: a further attempt",
      "work: a grouped task",
      "work: a prefetched claim",
      "work: a release was requested",
      "work: a task of a newer build",
      "work: a task with a cancel request",
      "work: a third loss is awaited",
      "work: after a place",
      "work: another definition woken",
      "work: free tokens",
      "work: something refused",
      "work: the rate is over",
      "work: tokens over the limit",
    ];
    expect(wanted.filter((event) => !seen.has(event))).toEqual([]);
  });
});

describe("fast-check makes histories of its own", () => {
  const asked = { seed: testSeed(), runs: isWhole ? 40 : 5, calls: 120 };

  test(`the histories of fast-check don't differ (seed ${String(asked.seed)})`, async () => {
    const found = await search(open, asked);
    expect(found === undefined ? "equal" : explainFound(asked, found)).toBe("equal");
  });
});

describe("histories that differed once", () => {
  const regressions = readRegressions();

  test("each history that differed once is there once", () => {
    expect(new Set(regressions.map(({ seed }) => seed)).size).toBe(regressions.length);
  });

  for (const { seed, found, calls } of regressions) {
    test(`the history of seed ${String(seed)} is equal on all stores: ${found}`, async () => {
      expectEqual(await runCalls(open, calls));
    });
  }
});

describeWhole("a difference is found, and shortened until people can read it", () => {
  const planted =
    (setup: StoreSetup, fault: PlantedFault): OpenStores =>
    async () => [openModelStore(), await openSqlStore(plantedSetup(setup, fault))];

  /** Should the choice of calls change, another seed may be needed. */
  async function find(changed: OpenStores, seed: number, path?: string): Promise<Found> {
    const where = path === undefined ? { runs: 40 } : { runs: 1, path };
    const found = await search(changed, { seed, calls: 60, ...where });
    if (found === undefined) throw new Error("No history of 40 shows it");
    return found;
  }

  test("a difference of an answer is found: T-SQL reclaims at the very instant at which a lease ends", async () => {
    const changed = planted(tsql, {
      file: "mssql/sql/procedures/ReclaimExpired.sql",
      edits: [{ from: "x.LeaseUntil < @vNow", to: "x.LeaseUntil <= @vNow" }],
    });
    const { calls, difference } = await find(changed, 2);
    expect(difference.call?.id).toBe(calls.at(-1)?.id);
    expect(calls.map((call) => call.do)).toEqual(["register", "start", "advance", "reclaim"]);
  });

  /** It knows nothing of executions that were started through another connection. */
  function withOwnExecutions(store: TaskStore): TaskStore {
    const own = new Set<string>();
    return changedStore(store, {
      startExecution: async (input) => {
        const answer = await store.startExecution(input);
        own.add(answer.executionId ?? "none");
        return answer;
      },
      finishExecution: (input) =>
        store.finishExecution({
          executionId: own.has(input.executionId) ? input.executionId : asExecutionId("99999999"),
        }),
    });
  }

  test("a difference of two connections is found: one knows nothing of executions started through the other", async () => {
    const changed: OpenStores = async () => {
      const store = await openSqlStore(postgres);
      return [
        openModelStore(),
        { ...store, connections: store.connections.map(withOwnExecutions) },
      ];
    };
    const { calls, path } = await find(changed, 1);
    expect(calls.map((call) => call.do)).toEqual(["register", "start", "finish"]);
    const again = await find(changed, 1, path);
    expect(again.calls).toEqual(calls);
    const [, start, finish] = calls;
    expect(finish?.connection).not.toBe(start?.connection);
  });

  test("a difference of a row is found: PostgreSQL forgets why an operator did it", async () => {
    const own = postgresSetup();
    try {
      const changed = planted(own, {
        file: "postgres/sql/functions/set_limit.sql",
        edits: [{ from: "p_changed_by, p_reason, v_now", to: "p_changed_by, null, v_now" }],
      });
      const { calls, difference } = await find(changed, 1);
      expect(difference).toMatchObject({ call: undefined, what: "table settingAudit" });
      expect(calls.map((call) => call.do)).toEqual(["register", "setLimit"]);
    } finally {
      await own.close();
    }
  });
});
