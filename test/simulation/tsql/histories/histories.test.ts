import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { splitBatches } from "../../../../shared/store/mssql/mssql-migrations";
import { postgresSetup } from "../../../support/postgres-setup";
import { simulatedMssqlSetup } from "../../../support/simulated-mssql-setup";
import type { StoreSetup } from "../../../support/store-setup";
import { runCalls, runRandom } from "./history";
import type { HistoryResult, OpenStores } from "./history";
import { openModelStore } from "./model-store";
import { explainDifference, readRegressions } from "./saved-histories";
import { historyLength, historySeeds } from "./seeds";
import { shrink } from "./shrink";
import { openSqlStore } from "./sql-stores";

/*
 * The twins are equal: random histories of all operations run on the model, on PostgreSQL and on the T-SQL behind its
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
  test.each([...historySeeds])("seed %i", async (seed) => {
    const result = await runRandom(open, { seed, length: historyLength });
    for (const event of result.counts.keys()) seen.add(event);
    expectEqual(result);
    expect(result.calls).toHaveLength(historyLength);
  });

  test("and meet what there is to meet", () => {
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
      "explain: held",
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
      "reschedule: held",
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
      "setSharedLimit: a surplus",
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
      "work: a spare claim",
      "work: a surplus of tokens",
      "work: a task of a newer build",
      "work: a task with a cancel request",
      "work: a third loss is awaited",
      "work: after a place",
      "work: another definition woken",
      "work: something refused",
      "work: the rate is over",
    ];
    expect(wanted.filter((event) => !seen.has(event))).toEqual([]);
  });
});

describe("histories that differed once", () => {
  const regressions = readRegressions();

  test("each is there once", () => {
    expect(new Set(regressions.map(({ seed }) => seed)).size).toBe(regressions.length);
  });

  for (const { seed, found, calls } of regressions) {
    test(`seed ${String(seed)}: ${found}`, async () => {
      expectEqual(await runCalls(open, calls));
    });
  }
});

describe("a difference is found, and shortened until people can read it", () => {
  const sql = join(__dirname, "../../../../shared/store");

  /** The store of `setup`, with one of its files changed. */
  function planted(
    setup: StoreSetup,
    { file, from, to }: { file: string; from: string; to: string },
  ): OpenStores {
    const text = readFileSync(join(sql, file), "utf8");
    const changed = text.replaceAll(from, to);
    if (changed === text) throw new Error(`${file} no longer says \`${from}\``);
    const batches = setup.dialect === "mssql" ? splitBatches(changed) : [changed];
    const changedSetup: StoreSetup = {
      ...setup,
      open: async () => {
        const opened = await setup.open();
        for (const batch of batches) await opened.raw(batch);
        return opened;
      },
    };
    return async () => [openModelStore(), await openSqlStore(changedSetup)];
  }

  async function findAndShrink(changed: OpenStores): Promise<HistoryResult> {
    // The first of these shows both; should the choice of calls change, the others may.
    for (let seed = 41; seed <= 80; seed += 1) {
      const result = await runRandom(changed, { seed, length: 60 });
      if (result.difference !== undefined) return shrink(changed, result);
    }
    throw new Error("No history of 40 shows it");
  }

  test("of an answer: T-SQL reclaims at the very instant at which a lease ends", async () => {
    const changed = planted(tsql, {
      file: "mssql/sql/procedures/ReclaimExpired.sql",
      from: "x.LeaseUntil < @vNow",
      to: "x.LeaseUntil <= @vNow",
    });
    const { calls, difference } = await findAndShrink(changed);
    expect(difference?.call).toBe(calls.at(-1));
    expect(calls.slice(-2).map((call) => call.do)).toEqual(["advance", "reclaim"]);
    expect(calls.length).toBeLessThanOrEqual(8);
  });

  test("of a row: PostgreSQL forgets why an operator did it", async () => {
    const own = postgresSetup();
    try {
      const changed = planted(own, {
        file: "postgres/sql/functions/set_limit.sql",
        from: "p_changed_by, p_reason, v_now",
        to: "p_changed_by, null, v_now",
      });
      const { calls, difference } = await findAndShrink(changed);
      expect(difference).toMatchObject({ call: undefined, table: "settingAudit" });
      expect(calls.map((call) => call.do)).toEqual(["register", "setLimit"]);
    } finally {
      await own.close();
    }
  });
});
