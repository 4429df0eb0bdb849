/*
 * What the embedded database has acknowledged is there after kill -9 of the whole server, as it runs by default. Calls are
 * in flight on several connections when it dies, several times; each acknowledged one is looked for afterwards.
 */
import { execFileSync } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import type { EmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { migrateStore, openStore } from "../../shared/store/open-store";
import { define, operationId } from "../support/builders";
import { withClient } from "../support/test-postgres";
import { isWhole } from "../support/whole";

const kills = isWhole ? 4 : 2;
const perKill = isWhole ? 2_500 : 500;
const connections = 24;

let home: string;
let server: EmbeddedPostgres;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "taskgate-durability-"));
  // PostgreSQL runs as another user under root.
  await chmod(home, 0o755);
  await start();
  await migrateStore({ url: server.url });
});
afterAll(async () => {
  await server.stop();
  await rm(home, { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = await startEmbeddedPostgres({ dataDir: join(home, "data"), keep: true });
}

/** The server with all of its processes at once: none gets to write what the others left. */
function killAll(pid: number): void {
  const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  for (const one of [pid, ...children.trim().split(/\s+/).map(Number)]) {
    try {
      process.kill(one, "SIGKILL");
    } catch {
      // A connection's process that ended meanwhile.
    }
  }
}

/** Enqueues on all connections, and kills the server when so many calls were acknowledged. Answers their tasks. */
async function enqueueUntilKilled(names: readonly string[]): Promise<string[]> {
  const acknowledged: string[] = [];
  let isDead = false;
  const store = openStore({
    url: server.url,
    connectionsMax: connections,
    random: realRandom,
    // A call of a dead server needs no repeat.
    sleep: () => (isDead ? Promise.reject(new Error("dead")) : sleep(20)),
  });
  const lane = async (name: string): Promise<void> => {
    while (!isDead) {
      const tasks = [{ payload: JSON.stringify({ after: acknowledged.length }) }];
      const answer = await store.enqueueTasks({
        name,
        build: 1,
        operationId: operationId(),
        tasks,
      });
      acknowledged.push(...answer.taskIds);
      if (acknowledged.length >= perKill) {
        isDead = true;
        killAll(server.pid);
      }
    }
  };
  const ends = await Promise.allSettled(names.map(lane));
  await store.close();
  const unanswered = ends.filter((end) => end.status === "rejected");
  if (acknowledged.length < perKill) throw unanswered[0]?.reason;
  // There was work under way when the server died.
  expect(unanswered.length).toBeGreaterThan(0);
  return acknowledged;
}

test(`no acknowledged enqueue of ${String(kills * perKill)} is lost when the server is killed under load`, async () => {
  const store = openStore({ url: server.url, connectionsMax: 1, random: realRandom, sleep });
  // One of its own for each connection: they meet at the log that is flushed, not at a definition's row.
  const names: string[] = [];
  while (names.length < connections) names.push(await define(store, { limit: 1 }));
  await store.close();
  const acknowledged: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    acknowledged.push(...(await enqueueUntilKilled(names)));
    await server.exited;
    await start();
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(kills * perKill);
  const { rows } = await withClient(server.url, (client) =>
    client.query<{ id: string }>("select task_id::text as id from taskgate.task"),
  );
  const found = new Set(rows.map(({ id }) => id));
  expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
}, 180_000);
