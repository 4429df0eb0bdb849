import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { HostNews, HostOptions, HostOrder } from "./host-messages";
import { machineMs } from "./machine-clock";

/** When a host ran nothing: from its kill or its own end on, or from its freeze until it was thawed. */
export interface Halt {
  readonly host: string;
  readonly kind: "killed" | "ended" | "frozen";
  readonly fromMs: number;
  untilMs: number;
}

/** A host's process. */
export interface Host {
  readonly name: string;
  readonly build: number;
  readonly skewMs: number;
  readonly child: ChildProcess;
  readonly bornMs: number;
  isReady: boolean;
  /** Its freeze, while it lasts. */
  frozen: Halt | null;
}

/** The events of hosts. */
export type OnNews = (host: Host, news: HostNews) => void;

/** The processes of a run, and when which of them were halted. */
export class Hosts {
  readonly halts: Halt[] = [];
  /** Hosts that ended without being told to. */
  readonly crashes: string[] = [];
  readonly #onNews: OnNews;
  readonly #live = new Map<string, Host>();
  /** Library that fakes the whole process's wall clock; null: there is none, and only the worker's clock is wrong. */
  readonly #fakeTime: string | null;

  constructor(onNews: OnNews, fakeTime: string | null) {
    this.#onNews = onNews;
    this.#fakeTime = fakeTime;
  }

  /** Those that live, frozen ones included. */
  get all(): readonly Host[] {
    return [...this.#live.values()];
  }

  /** Those that can work. */
  get awake(): readonly Host[] {
    return this.all.filter((host) => host.frozen === null && host.isReady);
  }

  start(options: Omit<HostOptions, "isFaked">): void {
    const { name, build, skewMs } = options;
    const isFaked = skewMs !== 0 && this.#fakeTime !== null;
    const given: HostOptions = { ...options, isFaked };
    const register = join(__dirname, "../support/register-swc.cjs");
    const program = join(__dirname, "host-process.ts");
    const child = spawn(process.execPath, ["-r", register, program, JSON.stringify(given)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      env: isFaked ? { ...process.env, ...fakeTimeOf(this.#fakeTime, skewMs) } : process.env,
    });
    const host: Host = {
      name,
      build,
      skewMs,
      child,
      bornMs: machineMs(),
      isReady: false,
      frozen: null,
    };
    this.#live.set(name, host);
    child.on("message", (news: HostNews) => {
      if (news.is === "ready") host.isReady = true;
      this.#onNews(host, news);
    });
    // One that was killed a moment ago can't be told anything.
    child.on("error", () => undefined);
    child.on("exit", (code, signal) => {
      // Not one that was killed here.
      if (!this.#live.delete(name)) return;
      this.#halt(host, "ended");
      if (code !== 0) this.crashes.push(`${name} ended by itself, ${signal ?? String(code)}`);
    });
  }

  tell(host: Host, order: HostOrder): void {
    if (host.child.connected) host.child.send(order, () => undefined);
  }

  kill(host: Host): void {
    this.#halt(host, "killed");
    this.#live.delete(host.name);
    host.child.kill("SIGKILL");
  }

  freeze(host: Host): void {
    host.frozen = this.#halt(host, "frozen");
    host.child.kill("SIGSTOP");
  }

  thaw(host: Host): void {
    if (host.frozen === null) return;
    host.child.kill("SIGCONT");
    host.frozen.untilMs = machineMs();
    host.frozen = null;
  }

  /** Lets all end what they do, and kills those that don't within `graceMs`. Returns the names of these. */
  async stop(graceMs: number): Promise<string[]> {
    const hosts = this.all;
    const ended = hosts.map((host) => {
      this.thaw(host);
      const exit = new Promise<void>((resolve) =>
        host.child.once("exit", () => {
          resolve();
        }),
      );
      this.tell(host, { is: "stop" });
      return exit;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([Promise.all(ended), late]);
    clearTimeout(timer);
    const names = this.all.map(({ name }) => name);
    this.killAll();
    return names;
  }

  /** For the end of a run that went wrong, too. */
  killAll(): void {
    for (const host of this.all) this.kill(host);
  }

  #halt(host: Host, kind: Halt["kind"]): Halt {
    const halt: Halt = {
      host: host.name,
      kind,
      fromMs: machineMs(),
      untilMs: Number.POSITIVE_INFINITY,
    };
    this.halts.push(halt);
    return halt;
  }
}

/** Only the wall clock is wrong: durations count by another one, which no setting of the time changes. */
function fakeTimeOf(library: string | null, skewMs: number): Record<string, string> {
  const seconds = Math.round(skewMs / 1_000);
  return {
    LD_PRELOAD: library ?? "",
    FAKETIME: `${seconds < 0 ? "" : "+"}${String(seconds)}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_NO_CACHE: "0",
  };
}
