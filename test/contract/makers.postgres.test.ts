import { taskRef } from "../../shared/worker/define/task-ref";
import { afterEach, expect, test } from "@jest/globals";
import { nodeTimers } from "../../shared/platform/node-timers";
import { realClock, realRandom, sleep } from "../../shared/platform/real-clock";
import { noTelemetry } from "../../shared/ports/telemetry";
import type { TaskStore } from "../../shared/ports/task-store";
import { StoreUncertainError } from "../../shared/core/errors";
import { openStore } from "../../shared/store/open-store";
import { TaskClient } from "../../shared/worker/client/client";
import { createRegistry } from "../../shared/worker/define/registry";
import { define } from "../support/builders";
import { useContention } from "../support/use-contention";
import { urlAs } from "../support/roles";

/*
 * Many makers of blocks at once on PostgreSQL, each with the shipped store that repeats lost calls, while the data grows and
 * connections are killed in the middle of moves: the blocks tile the number line, without gap or overlap.
 */
const stores: TaskStore[] = [];
const scene = useContention();

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
});

const makers = 8;
const leastEnd = 40_000;
const killsMin = 10;
/** A run of seconds that lasts so long tells where it stands. */
const slowMs = 60_000;

function openMaker(): TaskClient {
  const url = urlAs(scene.url, "worker");
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  stores.push(store);
  const silent = () => undefined;
  return new TaskClient(
    {
      store,
      clock: realClock,
      timers: nodeTimers,
      random: realRandom,
      logger: { debug: silent, info: silent, warn: silent, error: silent },
      telemetry: noTelemetry,
      wakeUp: { hint: () => Promise.resolve() },
      workerName: "maker",
      build: 1,
    },
    createRegistry([]),
  );
}

/** Kills a connection that is moving the watermark; was there one? */
async function killOne(): Promise<boolean> {
  const { rows } = await scene.client.query<{ killed: boolean }>(
    `select pg_terminate_backend(pid) as killed from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and state = 'active'
        and query like '%advance_watermark%' order by random() limit 1`,
  );
  return rows[0]?.killed === true;
}

/** Where the run stands, and what its sessions do. */
async function tellSlow(state: object): Promise<void> {
  const { rows } = await scene.client.query(
    `select pid, state, wait_event, extract(epoch from now() - query_start) as s, left(query, 100) as query
       from pg_stat_activity where datname = current_database()`,
  );
  process.stdout.write(`slow makers: ${JSON.stringify({ ...state, sessions: rows })}\n`);
}

/** A call of which every repetition was killed, too, is the maker's to judge: it reads the watermark again. */
function orLost(error: unknown): "lost" {
  if (error instanceof StoreUncertainError) return "lost";
  throw error;
}

test("8 makers and killed connections: each number lies in one block", async () => {
  const name = await define(scene.openStore(1), { limit: null });
  let grown = 0;
  let kills = 0;
  // Not before enough connections have died and two makers have met.
  let end = Number.POSITIVE_INFINITY;
  const advanced = Array.from({ length: makers }, () => 0);

  const make = async (index: number): Promise<void> => {
    const { watermark } = openMaker();
    for (;;) {
      const to = grown;
      const request = { watermark: "by-id", numeric: { to, size: 7 }, maxBlocks: 40 };
      const moved = await watermark.advance(taskRef({ name }), request).catch(orLost);
      if (moved === "lost") continue;
      const { status, value } = moved;
      if (status === "advanced") advanced[index] = (advanced[index] ?? 0) + 1;
      if (JSON.stringify(value) === `{"last":"${String(end)}"}`) return;
    }
  };
  const grow = async (): Promise<void> => {
    while (end === Number.POSITIVE_INFINITY) {
      if (await killOne()) kills += 1;
      grown += 150;
      const haveMet = advanced.filter((moves) => moves > 0).length > 1;
      if (grown >= leastEnd && kills >= killsMin && haveMet) end = grown;
      await sleep(2);
    }
  };
  const slow = setTimeout(() => void tellSlow({ grown, kills, end, advanced }), slowMs);
  try {
    await Promise.all([grow(), ...advanced.map((_, index) => make(index))]);
  } finally {
    clearTimeout(slow);
  }

  const { rows } = await scene.client.query<{ first: number; last: number }>(
    `select (payload::json ->> 'from')::int as first, (payload::json ->> 'to')::int as last
       from taskgate.task order by 1, 2`,
  );
  let next = 1;
  for (const { first, last } of rows) {
    expect(first).toBe(next);
    expect(last).toBeGreaterThanOrEqual(first);
    expect(last - first).toBeLessThan(7);
    next = last + 1;
  }
  expect(next).toBe(end + 1);
  expect(kills).toBeGreaterThanOrEqual(killsMin);
  // Otherwise no two makers met.
  expect(advanced.filter((moves) => moves > 0).length).toBeGreaterThan(1);
}, 120_000);
