/**
 * One local run per folder. The lock is a file that names a TCP port of 127.0.0.1 and a secret; it is held as long as
 * that port answers the secret, so a lock whose process died, however it died, blocks no other run. A process id alone would
 * not do: after a restart of the machine another process may have it.
 */
import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { Server } from "node:net";
import { join } from "node:path";
import { sleep } from "../platform/real-clock";
import { textAt } from "../core/foreign-value";
import { LOCAL_HOST, portOf } from "./free-port";
import { jsonMembers } from "../core/json-members";

/** The lock while it is held. */
export interface HomeLock {
  release(): Promise<void>;
}

interface LockFile {
  readonly port: number;
  readonly secret: string;
  readonly pid: number;
}

const answerTimeoutMs = 1_000;
/** Two that find the same stale lock may both remove it: the one whose file is gone after this long gives way. */
const settleMs = 100;
/** A stale lock is removed once; a second one means that others start at the same moment. */
const triesMax = 3;

/** Takes the lock of `folder`, which exists. Throws an Error with one sentence when another process has it. */
export async function lockHome(folder: string): Promise<HomeLock> {
  const secret = randomUUID();
  const server = await listen(secret);
  const port = portOf(server);
  const path = join(folder, "lock.json");
  const text = JSON.stringify({ port, secret, pid: process.pid });
  for (let attempt = 1; attempt <= triesMax; attempt += 1) {
    if (await create(path, text)) {
      await sleep(settleMs);
      if ((await readLock(path))?.secret === secret)
        return { release: () => release(path, server) };
    }
    const holder = await readLock(path);
    if (holder !== null && (await isHeld(holder))) {
      server.close();
      throw new Error(
        `Taskgate runs in this folder already (process ${String(holder.pid)}). End that one first, or use another folder with --home.`,
      );
    }
    await rm(path, { force: true });
  }
  server.close();
  throw new Error(`The lock ${path} could not be taken: others start here at the same moment.`);
}

async function release(path: string, server: Server): Promise<void> {
  await rm(path, { force: true });
  server.close();
}

/** Answers every connection with the secret. Keeps no process alive. */
function listen(secret: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end(secret);
    });
    server.once("error", reject);
    server.listen(0, LOCAL_HOST, () => {
      server.unref();
      resolve(server);
    });
  });
}

async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (textAt(error, "code") === "EEXIST") return false;
    throw error;
  }
}

/** The content of the file; null: it is gone, or cut short by a crash. */
async function readLock(path: string): Promise<LockFile | null> {
  const { port, secret, pid } = jsonMembers(await readFile(path, "utf8").catch(() => ""));
  const isLock = typeof port === "number" && typeof secret === "string";
  return isLock && typeof pid === "number" ? { port, secret, pid } : null;
}

function isHeld({ port, secret }: LockFile): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(port, LOCAL_HOST);
    socket.setTimeout(answerTimeoutMs, () => socket.destroy());
    socket.on("data", (bytes) => (answer += bytes.toString("utf8")));
    socket.on("error", () => undefined);
    socket.on("close", () => {
      resolve(answer === secret);
    });
  });
}
