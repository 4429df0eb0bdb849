import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Installed } from "./install";
import type { CallName, Calls, Progress, SentAnswer, SentCall } from "./protocol";

const endMs = 10_000;

/** A process in Node 24 that hosts one of the systems; this is the launcher's side of it. */
export class Agent {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: SentAnswer) => void>();
  readonly #exited: Promise<void>;
  #asked = 0;
  /** The latest that it has told. */
  progress: Progress["progress"] = { handled: 0, atMs: 0, cpuMs: 0 };
  onProgress: () => void = () => undefined;

  constructor({ node, folder }: Installed) {
    const { PATH, HOME, TMPDIR } = process.env;
    this.#child = spawn(node, [join(folder, "agent-process.ts")], {
      cwd: folder,
      // No setting of the caller's environment reaches the systems.
      env: { PATH, HOME, TMPDIR, NODE_ENV: "production" },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child.on("message", (message: SentAnswer | Progress) => {
      if ("progress" in message) {
        this.progress = message.progress;
        this.onProgress();
      } else {
        this.#waiting.get(message.id)?.(message);
        this.#waiting.delete(message.id);
      }
    });
    this.#exited = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => {
        const error = `the process ended (${code ?? signal ?? "?"})`;
        for (const [id, settle] of this.#waiting) settle({ id, error });
        this.#waiting.clear();
        resolve();
      });
    });
  }

  /** Throws an Error with the other side's words. */
  async call<Name extends CallName>(
    name: Name,
    asked: Calls[Name]["asked"],
  ): Promise<Calls[Name]["answer"]> {
    this.#asked += 1;
    const call: SentCall = { id: this.#asked, name, asked };
    const answer = await new Promise<SentAnswer>((resolve) => {
      this.#waiting.set(call.id, resolve);
      this.#child.send(call, (error) => {
        if (error !== null) resolve({ id: call.id, error: error.message });
      });
    });
    if (answer.error !== undefined) throw new Error(`${name}: ${answer.error}`);
    return answer.answer as Calls[Name]["answer"];
  }

  /** Ends workers and connections where that takes no longer than 10 s, then the process. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), endMs);
    await this.call("close", {}).catch(() => undefined);
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
    clearTimeout(timer);
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}
