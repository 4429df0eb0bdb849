import { expect } from "@jest/globals";
import type { StoreDialect, StoreTransaction } from "../../shared/ports/task-store";
import { only } from "../support/builders";
import { createGate } from "../support/gate";
import type { TestStore } from "../support/store-setup";

/** Gives a row for each session that waits for a lock. */
export const waitingSql: Readonly<Record<Exclude<StoreDialect, "memory">, string>> = {
  postgres:
    "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  mssql: "SELECT 1 AS one FROM sys.dm_tran_locks AS l WHERE l.request_status = N'WAIT';",
};

/** What rolls back transactions that a failed test left open; else they would keep the next test waiting. */
const leftOpen = new Set<() => void>();

/** A transaction that stays open until one of these. */
export interface OpenTransaction<Result> {
  readonly result: Result;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

type First<Result> = (transaction: StoreTransaction) => Promise<Result>;

/** Opens a user's transaction, does `first` in it, and leaves it open until `finish`. */
export function openTransaction<Result>(
  opened: TestStore,
  first: First<Result>,
): Promise<OpenTransaction<Result>> {
  return leaveOpen((body) => opened.store.transaction(body), first);
}

/** The same as the schema's owner, who may write and lock what a test needs. */
export function openAsOwner<Result>(
  opened: TestStore,
  first: First<Result>,
): Promise<OpenTransaction<Result>> {
  return leaveOpen((body) => opened.asOwner(body), first);
}

async function leaveOpen<Result>(
  begin: (body: First<void>) => Promise<void>,
  first: First<Result>,
): Promise<OpenTransaction<Result>> {
  const ready = createGate();
  const go = createGate();
  const results: Result[] = [];
  const stop = new Error("abandoned");
  let isAbandoned = false;
  const running = begin(async (transaction) => {
    results.push(await first(transaction));
    ready.open();
    await go.opened;
    if (isAbandoned) throw stop;
  });
  const rollBack = (): void => {
    isAbandoned = true;
    go.open();
  };
  leftOpen.add(rollBack);
  running.catch(() => undefined);
  await Promise.race([ready.opened, running]);
  return {
    result: only(results),
    finish: async () => {
      go.open();
      await running;
    },
    abandon: async () => {
      rollBack();
      await expect(running).rejects.toBe(stop);
    },
  };
}

export function rollBackLeftOpen(): void {
  for (const rollBack of leftOpen) rollBack();
  leftOpen.clear();
}

/** Asks `waiting` until it says that so many wait for a lock. */
export async function untilSomebodyWaits(
  opened: TestStore,
  waiting: string,
  count = 1,
): Promise<void> {
  for (let look = 0; look < 1_000; look += 1) {
    const rows = await opened.raw(waiting);
    if (rows.length >= count) return;
  }
  throw new Error("Nobody waits");
}
