import type { Client, QueryResult } from "pg";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import type { TaskStore } from "../../shared/ports/task-store";
import { openStore } from "../../shared/store/open-store";
import { define, operationId, startWorker } from "../support/builders";
import { urlAs } from "../support/roles";
import { withClient } from "../support/test-postgres";
import type { ChaosServer } from "./server";
import type { Verdict } from "./verdict";

const batch = 10;
const calls = 6;
/** What a large backlog may cost more: its indexes have a level more. */
const moreMax = 1.5;

/**
 * Flat cost on the database as the troubles have left it: the blocks that a call reads which completes ten tasks and claims ten,
 * with 2,000 that wait and with 22,000. The last thing of a run: its tasks are in no ledger.
 */
export async function judgeCost(server: ChaosServer, verdict: Verdict): Promise<void> {
  const url = urlAs(server.url, "worker");
  const store = openStore({ url, connectionsMax: 2, random: realRandom, sleep });
  try {
    const name = await define(store, { limit: batch, prefetchMax: 0 }, "chaos-cost");
    await enqueue(store, name, 2_000);
    const small = await blocksOfClaim(url, { store, name });
    await enqueue(store, name, 10_000);
    await enqueue(store, name, 10_000);
    const large = await blocksOfClaim(url, { store, name });
    verdict.check("flat cost");
    const figure = `${String(small)} blocks with 2,000 waiting, ${String(large)} with 22,000`;
    verdict.figure("flat cost", figure);
    if (large > moreMax * small) verdict.broken("flat cost", figure);
  } finally {
    await store.close();
  }
}

async function enqueue(store: TaskStore, name: string, count: number): Promise<void> {
  const tasks = Array.from({ length: count }, () => ({ payload: "{}" }));
  await store.enqueueTasks({ name, build: 1, operationId: operationId(), tasks });
}

/** The least of some calls. Only this session's reads count: the server cleans the tables at the same time. */
function blocksOfClaim(
  url: string,
  { store, name }: { store: TaskStore; name: string },
): Promise<number> {
  return withClient(url, async (session) => {
    const worker = await startWorker(store, name, { want: batch });
    const blocks: number[] = [];
    let ids: string | null = null;
    let fences: string | null = null;
    for (let call = 1; call <= calls; call += 1) {
      await session.query("begin");
      const text = `select task_ids, fence::text from taskgate.work($1, $2, p_done_task_ids => $3, p_done_fences => $4, p_want => $5)`;
      const { rows }: QueryResult<{ task_ids: string; fence: string }> = await session.query(text, [
        worker.number,
        call,
        ids,
        fences,
        batch,
      ]);
      if (ids !== null) blocks.push(await blocksOfTransaction(session));
      await session.query("commit");
      const claimed: string[] = rows[0]?.task_ids.split(",") ?? [];
      ids = `{${claimed.join()}}`;
      fences = `{${claimed.map(() => rows[0]?.fence).join()}}`;
    }
    await store.finishExecution({ executionId: worker.executionId });
    return Math.min(...blocks);
  });
}

/** What the open transaction has read of the schema's tables and indexes so far. */
async function blocksOfTransaction(session: Client): Promise<number> {
  const { rows }: QueryResult<{ blocks: string }> = await session.query(
    `select sum(pg_stat_get_xact_blocks_fetched(c.oid)) as blocks
       from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'taskgate'`,
  );
  return Number(rows[0]?.blocks);
}
