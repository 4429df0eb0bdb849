import type { Seen, Setup } from "../peers-launcher/protocol.ts";
import type { Handle } from "./system.ts";

/** Monotonic and the same in all processes of a computer. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e3;
}

/** What handlers see: counted always, timed where the scenario asks for it. */
export class Recorder {
  #handled = 0;
  #told = -1;
  readonly #begins: number[] = [];
  readonly #ends: number[] = [];
  readonly #waitsMs: number[] = [];

  handler({ work, taskMs }: Setup): Handle {
    if (work === "wait")
      return async ({ sentAt }) => {
        this.#waitsMs.push(nowMs() - Number(sentAt));
        this.#handled += 1;
      };
    if (taskMs > 0)
      return async () => {
        this.#begins.push(nowMs());
        await new Promise((resolve) => setTimeout(resolve, taskMs));
        this.#ends.push(nowMs());
        this.#handled += 1;
      };
    return async () => {
      this.#handled += 1;
    };
  }

  seen(): Seen {
    return {
      handled: this.#handled,
      begins: this.#begins,
      ends: this.#ends,
      waitsMs: this.#waitsMs,
      cpuMs: cpuMs(),
    };
  }

  /** Tells a changed count, looking every 10 ms. */
  tell(send: (handled: number) => void): void {
    setInterval(() => {
      if (this.#told === this.#handled) return;
      this.#told = this.#handled;
      send(this.#handled);
    }, 10);
  }
}
