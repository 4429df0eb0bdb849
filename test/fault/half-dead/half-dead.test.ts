// The driver must see errors of sockets here as it does outside jest.
import "../../support/node-errors";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openStore } from "../../../shared/store/open-store";
import { realRandom, sleep } from "../../../shared/platform/real-clock";
import type { TaskStore } from "../../../shared/ports/task-store";
import { define, done, enqueue, operationId, startWorker, tryStart } from "../../support/builders";
import { until } from "../../support/gate";
import { urlAs } from "../../support/roles";
import { createTestDatabase, withClient } from "../../support/test-postgres";
import { openPlainStore } from "../../support/postgres-setup";
import { breaks, MessageProxy } from "./message-proxy";
import type { Break } from "./message-proxy";
import { fewOf } from "../../support/whole";

/*
 * A worker completes a task with a child and a row of its own, and its connection breaks in front of each message in turn,
 * in three ways. In each, its token and its task go to another within its lease + 5 s, and row, child and
 * completion are there together or not at all.
 */

const graceMs = 5_000;
/** Begin; Parse, Bind, Describe, Execute and Sync of three statements, the last of which keeps the values; completion and commit. */
const messages = "QPBDESPBDESPBDESQ";
/** Of the messages that pass; the last one: all of them, and the answer is lost. */
const places = Array.from({ length: messages.length + 1 }, (_, index) => index);

/** The whole way ends within its lease beside all others on a slow computer; the others wait for no more than they need. */
function leaseOf(place: number): number {
  return place === messages.length ? 6_000 : 2_000;
}

interface Ending {
  readonly label: string;
  readonly seen: string;
  readonly backAfterMs: number;
  readonly written: string;
}

let database: { url: string; drop(): Promise<void> };
let direct: TaskStore;

beforeAll(async () => {
  database = await createTestDatabase();
  direct = openPlainStore(database.url, 8);
  await withClient(database.url, async (client) => {
    await client.query("create table public.own (name text); grant all on public.own to public");
  });
});

afterAll(async () => {
  await direct.close();
  await database.drop();
});

/** The worker whose connection breaks: it gives up soon, so that the test ends. */
function openThrough(proxy: MessageProxy): TaskStore {
  const url = new URL(urlAs(database.url, "worker"));
  url.hostname = "127.0.0.1";
  url.port = String(proxy.port);
  return openStore({
    url: url.toString(),
    connectionsMax: 1,
    callTimeoutMs: 8_000,
    random: realRandom,
    sleep,
  });
}

async function play(kind: Break, place: number): Promise<Ending> {
  const leaseMs = leaseOf(place);
  const { hostname, port } = new URL(database.url);
  const proxy = await MessageProxy.start({ host: hostname, port: Number(port) }, kind);
  const cut = openThrough(proxy);
  try {
    const name = await define(direct, { limit: 1, leaseMs });
    await enqueue(direct, name, 1);
    // Its lease begins with the claim; no call renews it.
    await cut.listDefinitions({ name }).catch(() => undefined);
    const worker = await startWorker(direct, name);
    const task = await worker.claimOne();
    const begun = performance.now();
    proxy.breakAfter(place, { losesAnswer: place === messages.length });
    const call = { ...done(task), executionId: worker.executionId };
    const completing = complete(cut, { name, call, idleMs: leaseMs });
    completing.catch(() => undefined);
    await until(
      "the token is somebody else's",
      async () => {
        await direct.reclaimExpired({ max: 100 });
        return (await tryStart(direct, name)) === "started";
      },
      leaseMs + graceMs,
    );
    const backAfterMs = performance.now() - begun;
    await until(
      "the task is ready or done",
      async () => {
        await direct.reclaimExpired({ max: 100 });
        return (await countsOf(name)) !== "claimed";
      },
      leaseMs + graceMs,
    );
    // The server has ended what waited for its client inside a transaction.
    await until("no transaction is idle", async () => (await idleCount()) === 0, leaseMs + graceMs);
    await proxy.close();
    await completing.catch(() => undefined);
    return {
      label: labelOf(kind, place),
      seen: proxy.seen,
      backAfterMs,
      written: await writtenBy(name),
    };
  } finally {
    await proxy.close();
    await cut.close();
  }
}

interface Completion {
  readonly name: string;
  readonly call: Parameters<TaskStore["completeTask"]>[0];
  readonly idleMs: number;
}

function complete(store: TaskStore, { name, call, idleMs }: Completion): Promise<unknown> {
  return store.transaction(
    async (transaction) => {
      await transaction.query("insert into public.own values ($1)", [name]);
      const tasks = [{ payload: null, kind: "child", group: "g" }];
      const enqueued = { name, build: 1, operationId: operationId(), tasks };
      await store.enqueueTasks(enqueued, transaction);
      await store.completeTask({ ...call, endsTransaction: true }, transaction);
    },
    { idleMs },
  );
}

async function countsOf(name: string): Promise<string> {
  const { definitions } = await direct.listDefinitions({ name });
  return definitions.some(({ claimed }) => claimed > 0) ? "claimed" : "free";
}

async function idleCount(): Promise<number> {
  const { rowCount } = await withClient(database.url, (client) =>
    client.query(
      "select 1 from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'",
    ),
  );
  return rowCount ?? 0;
}

/** Row, child and completion, together or not at all. */
async function writtenBy(name: string): Promise<string> {
  const { definitions } = await direct.listDefinitions({ name });
  const { rows } = await withClient(database.url, (client) =>
    client.query<{ own: number }>("select count(*)::int as own from public.own where name = $1", [
      name,
    ]),
  );
  const [row] = rows;
  const [status] = definitions;
  if (row === undefined || status === undefined) throw new Error(`${name} is gone`);
  return `rows ${String(row.own)}, ready ${String(status.ready + status.scheduled)}, done ${String(status.done)}`;
}

function labelOf(kind: Break, place: number): string {
  const next = messages[place];
  const where = next === undefined ? "behind the last message" : `in front of ${next}`;
  return `${kind} after ${String(place)} messages, ${where}`;
}

describe("a connection that breaks while a task is completed", () => {
  test.each(fewOf(breaks))(
    "a connection that breaks by %s gives token and task back within the lease and 5 s, at every message",
    async (kind) => {
      const endings = await Promise.all(places.map((place) => play(kind, place)));
      const kept = { undone: "rows 0, ready 1, done 0", done: "rows 1, ready 1, done 1" };
      for (const [place, ending] of endings.entries()) {
        const isDone = place === messages.length;
        expect({ ...ending, backAfterMs: 0 }).toEqual({
          label: labelOf(kind, place),
          seen: messages.slice(0, place),
          backAfterMs: 0,
          written: isDone ? kept.done : kept.undone,
        });
        expect(ending.backAfterMs).toBeLessThan(leaseOf(place) + graceMs);
      }
    },
  );
});
