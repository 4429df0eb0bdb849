import { fork } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbeddedPostgres } from "../../../shared/local/embedded-postgres";
import { migrateStore } from "../../../shared/store/open-store";

/** Databases that go away and come back, each in its own way. */

/**
 * refused: the server is stopped, as by an operator. silent: packets vanish, as behind a broken network; connections
 * stay half-open. 40613: logins are answered so, as Azure SQL does while a database is paused or moves.
 */
export type OutageKind = "refused" | "silent" | "40613";

/** A database that can go away. */
export interface OutageServer {
  /** For the app under test. */
  readonly url: string;
  /** Reaches the database without what makes it go away, but only while a stopped server runs. */
  readonly directUrl: string;
  away(): Promise<void>;
  back(): Promise<void>;
  /** Connections that were ever tried; null where they aren't counted. */
  attempts(): Promise<number | null>;
  close(): Promise<void>;
}

export type OutageOrder = "away" | "back" | "count";
export type OutageReport =
  | { readonly kind: "listens"; readonly url: string }
  | { readonly kind: "done"; readonly connections: number };

const starts: Readonly<Record<OutageKind, () => Promise<OutageServer>>> = {
  refused: startStoppable,
  silent: startSilent,
  "40613": startTds,
};

/** A migrated database of its own. */
export function startOutageServer(kind: OutageKind): Promise<OutageServer> {
  return starts[kind]();
}

async function startStoppable(): Promise<OutageServer> {
  const home = await mkdtemp(join(tmpdir(), "taskgate-outage-"));
  // PostgreSQL runs as another user under root.
  await chmod(home, 0o755);
  const dataDir = join(home, "data");
  let server = await startEmbeddedPostgres({ keep: true, fast: true, dataDir });
  const { url, port } = server;
  await migrateStore({ url });
  return {
    url,
    directUrl: url,
    away: () => server.stop(),
    back: async () => {
      server = await startEmbeddedPostgres({ keep: true, fast: true, dataDir, port });
    },
    attempts: () => Promise.resolve(null),
    close: async () => {
      await server.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function startSilent(): Promise<OutageServer> {
  const server = await startEmbeddedPostgres({ keep: false, fast: true });
  await migrateStore({ url: server.url });
  const sockets = new Set<Socket>();
  let isSilent = false;
  let attempts = 0;
  const proxy = createServer((near) => {
    attempts += 1;
    const far = createConnection({ host: "127.0.0.1", port: server.port });
    // A connection that was open when packets began to vanish never answers again.
    let isLost = false;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (chunk) => {
        isLost ||= isSilent;
        if (!isLost) to.write(chunk);
      });
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = new URL(server.url);
  address.port = String((proxy.address() as AddressInfo).port);
  return {
    url: address.toString(),
    directUrl: server.url,
    away: () => {
      isSilent = true;
      return Promise.resolve();
    },
    back: () => {
      isSilent = false;
      return Promise.resolve();
    },
    attempts: () => Promise.resolve(attempts),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await server.stop();
    },
  };
}

async function startTds(): Promise<OutageServer> {
  const child = fork(join(__dirname, "tds-process.ts"), {
    execArgv: ["-r", join(__dirname, "../../support/register-swc.cjs")],
  });
  const next = async (): Promise<OutageReport> => {
    const [report] = (await once(child, "message")) as [OutageReport];
    return report;
  };
  const order = async (what: OutageOrder): Promise<number> => {
    const answer = next();
    child.send(what);
    const report = await answer;
    return report.kind === "done" ? report.connections : 0;
  };
  const first = await next();
  if (first.kind !== "listens") throw new Error("The simulated server began with something else");
  return {
    url: first.url,
    directUrl: first.url,
    away: async () => {
      await order("away");
    },
    back: async () => {
      await order("back");
    },
    attempts: () => order("count"),
    close: async () => {
      const exited = once(child, "exit");
      child.disconnect();
      await exited;
    },
  };
}
