/*
 * HTTP and the end of the process while the database is silent: connections are taken, and nothing is ever answered.
 */
import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startOutageServer } from "../fault/outage/servers";
import type { HostChild } from "../../shared/local/host-children";
import { sleep } from "../../shared/platform/real-clock";
import { ensureBuilt, root, startApp } from "./built-app";

/** Azure kills the process 5 s after it asked; `endRuntime` promises 3.6 s, the rest is the local host's own. */
const endMsMax = 4_500;

const closers: (() => Promise<void>)[] = [];
beforeAll(() => void ensureBuilt(), 180_000);
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Takes connections and says nothing. */
async function startSilent() {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
    return Promise.resolve();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `postgres://u:p@127.0.0.1:${String(port)}/d`, connections: () => connections };
}

/** The app before that database, its time `factor` times as fast; with `lines` its timers run and its log goes there. */
async function start(url: string, factor = 1, lines?: string[]): Promise<HostChild> {
  const host = await startApp(
    {
      TASKGATE_DATABASE_URL: url,
      TASKGATE_SWEEP_SCHEDULE: "* * * * * *",
      // No server listens there: the queues are no part of this.
      AzureWebJobsStorage:
        "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=YQ==;QueueEndpoint=http://127.0.0.1:9/a;",
      NODE_OPTIONS: `-r ${join(root, "test/support/fast-time.cjs")}`,
      TASKGATE_TEST_TIME_FACTOR: String(factor),
    },
    (line) => lines?.push(line),
    lines !== undefined,
  );
  closers.push(() => host.stop());
  return host;
}

async function get(url: string): Promise<{ status: number; tookMs: number }> {
  const startedMs = performance.now();
  const response = await fetch(url);
  await response.arrayBuffer();
  return { status: response.status, tookMs: performance.now() - startedMs };
}

async function untilFound(url: string): Promise<void> {
  let answer = await get(url);
  for (let tries = 0; answer.status !== 200 && tries < 50; tries += 1) {
    await sleep(100);
    answer = await get(url);
  }
  expect(answer.status).toBe(200);
}

async function endsInTime(host: HostChild): Promise<void> {
  const startedMs = performance.now();
  await host.stop();
  expect(await host.exited).toBe("exit code 0");
  expect(performance.now() - startedMs).toBeLessThan(endMsMax);
}

describe("the dashboard", () => {
  test("the dashboard answers its files at once, and never asks the database", async () => {
    const silent = await startSilent();
    const host = await start(silent.url);
    for (const file of ["", "/app.js", "/style.css", "/nothing"]) {
      const { status, tookMs } = await get(`${host.url}/api/dashboard${file}`);
      expect(status).toBe(file === "/nothing" ? 404 : 200);
      expect(tookMs).toBeLessThan(2_000);
    }
    expect(silent.connections()).toBe(0);
  }, 60_000);
});

describe("the API", () => {
  test("twelve requests that meet a silent database share one wait and are told 503; the next ones are told at once", async () => {
    const silent = await startSilent();
    const factor = 10;
    const host = await start(silent.url, factor);
    const requests = Array.from({ length: 12 }, () => get(`${host.url}/api/status`));
    const answers = await Promise.all(requests);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
    expect(silent.connections()).toBe(1);

    const probe = get(`${host.url}/api/status`);
    await sleep(200);
    const next = await get(`${host.url}/api/status`);
    expect(next.status).toBe(503);
    // Who calls waits 4 s at most, here 0.4 s; the probe behind has its time-out of 15 s, here 1.5 s.
    expect(next.tookMs).toBeLessThan(1_000);
    await probe;
    expect(silent.connections()).toBeLessThanOrEqual(2);
  }, 60_000);

  test("one request asks once the database has gone silent, all others are told 503 at once, and it is found again", async () => {
    const server = await startOutageServer("silent");
    closers.push(() => server.close());
    const host = await start(server.url, 30);
    const status = `${host.url}/api/status`;
    const twelve = () => Promise.all(Array.from({ length: 12 }, () => get(status)));
    // Who calls waits 4 s, here 0.13 s: a cold start may take longer.
    await untilFound(status);
    await server.away();
    for (const first of await twelve()) expect([503, 504]).toContain(first.status);

    const before = (await server.attempts()) ?? 0;
    const probe = get(status);
    await sleep(100);
    for (const next of await twelve()) {
      expect(next.status).toBe(503);
      // A connect alone times out after 15 s, here 0.5 s; a call is tried six times.
      expect(next.tookMs).toBeLessThan(1_500);
    }
    await probe;
    expect(((await server.attempts()) ?? 0) - before).toBeLessThanOrEqual(2);

    await server.back();
    await untilFound(status);
  }, 90_000);
});

describe("sweep", () => {
  test("a tick that meets a database that is away tries again and succeeds when it is back", async () => {
    const server = await startOutageServer("silent");
    closers.push(() => server.close());
    await server.away();
    const lines: string[] = [];
    await start(server.url, 20, lines);
    const seen = (text: string): boolean => lines.some((line) => line.includes(text));
    // Time-outs of 15 s, here 0.75 s, and pauses of 5 and 10 s: it has failed once by then, and goes on.
    while (!seen("the database is away")) await sleep(20);
    await server.back();
    for (let tries = 0; !seen("Executed 'sweep' (Succeeded") && tries < 300; tries += 1)
      await sleep(50);
    expect(seen("Executed 'sweep' (Succeeded")).toBe(true);
    expect(lines.filter((line) => line.includes("(Failed"))).toEqual([]);
  }, 60_000);
});

describe("endRuntime", () => {
  test("the call of endRuntime ends in time while the start hangs and requests wait", async () => {
    const silent = await startSilent();
    const host = await start(silent.url);
    const pending = [1, 2, 3].map(() => get(`${host.url}/api/status`).catch(() => null));
    while (silent.connections() === 0) await sleep(20);
    await endsInTime(host);
    // An answer, each of them: 503 when it had waited long, 504 when the end cut it short.
    for (const answer of await Promise.all(pending)) expect([503, 504]).toContain(answer?.status);
  }, 60_000);

  test("the call of endRuntime ends in time when its connections are half-open under a request", async () => {
    const server = await startOutageServer("silent");
    closers.push(() => server.close());
    const host = await start(server.url);
    expect((await get(`${host.url}/api/status`)).status).toBe(200);
    await server.away();
    const pending = get(`${host.url}/api/status`).catch(() => null);
    await sleep(300);
    await endsInTime(host);
    expect([503, 504]).toContain((await pending)?.status);
  }, 60_000);

  test("the call of endRuntime ends at once where nothing has run", async () => {
    const silent = await startSilent();
    const host = await start(silent.url);
    await endsInTime(host);
    expect(silent.connections()).toBe(0);
  }, 60_000);
});
