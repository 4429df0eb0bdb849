import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findFreePort } from "../../../shared/local/free-port";
import { sleep } from "../../../shared/platform/real-clock";

/**
 * Every write is on the disk before its answer, as it is with PostgreSQL's commits. With `everysec`, which BullMQ's own
 * documentation has, a power cut loses a second of tasks that were answered for.
 */
const persistence = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];

/** The Redis of BullMQ, started and ended by the benchmark. */
export class BenchRedis {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly port: number;
  readonly version: string;

  private constructor(
    child: ChildProcess,
    folder: string,
    place: { port: number; version: string },
  ) {
    this.#child = child;
    this.#folder = folder;
    this.port = place.port;
    this.version = place.version;
  }

  /** Answers the reason where there is none. */
  static async start(): Promise<BenchRedis | string> {
    let version: string;
    try {
      const told = execFileSync("redis-server", ["--version"], { encoding: "utf8" });
      version = /v=([\d.]+)/.exec(told)?.[1] ?? told.trim();
    } catch {
      return "redis-server isn't installed (Debian: apt-get install redis-server)";
    }
    const folder = mkdtempSync(join(tmpdir(), "taskgate-bench-redis-"));
    const port = await findFreePort();
    const place = ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder];
    const child = spawn("redis-server", [...place, ...persistence], { stdio: "ignore" });
    const redis = new BenchRedis(child, folder, { port, version });
    process.once("exit", () => {
      child.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    });
    for (let tries = 0; tries < 100; tries += 1) {
      if ((await redis.ask("PING").catch(() => "")).startsWith("+PONG")) return redis;
      await sleep(50);
    }
    await redis.stop();
    return "redis-server didn't start";
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get settings(): string {
    return "appendonly yes, appendfsync always";
  }

  async empty(): Promise<void> {
    await this.ask("FLUSHALL");
  }

  /** Commands that clients have sent so far, these questions among them. */
  async commands(): Promise<number> {
    return Number(/total_commands_processed:(\d+)/.exec(await this.ask("INFO stats"))?.[1] ?? 0);
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** One command on a connection of its own; the answer as it comes, which fits one packet here. */
  private ask(command: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: "127.0.0.1", port: this.port });
      socket.setEncoding("utf8");
      socket.once("error", reject);
      socket.once("data", (text: string) => {
        socket.destroy();
        resolve(text);
      });
      socket.write(`${command}\r\n`);
    });
  }
}
