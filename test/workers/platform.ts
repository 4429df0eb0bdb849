import type { VirtualTime } from "./virtual-time";
import type { Chance } from "./chance";
import type { Host } from "./host";

/** What a host does with a message. */
export type Handle = (host: Host, definition: string) => Promise<void>;

/**
 * What Azure does: keeps queue messages, loses and doubles some of the hints (they are only hints), starts an
 * invocation on some host for each, and shows a message again when its host died or failed.
 */
export class Platform {
  readonly hosts: Host[] = [];
  readonly #time: VirtualTime;
  readonly #chance: Chance;
  readonly #handle: Handle;
  readonly #faults: () => { lossRate: number; doubleRate: number };
  readonly #busy = new Map<Host, number>();
  /** Invocations of one host at a time. */
  readonly #busyMax: number;

  constructor(options: {
    time: VirtualTime;
    chance: Chance;
    handle: Handle;
    faults: () => { lossRate: number; doubleRate: number };
    busyMax: number;
  }) {
    this.#time = options.time;
    this.#chance = options.chance;
    this.#handle = options.handle;
    this.#faults = options.faults;
    this.#busyMax = options.busyMax;
  }

  /** Hosts that are up and not standing still. */
  get awake(): Host[] {
    return this.hosts.filter((host) => !host.isDead && !host.isFrozen);
  }

  /** A message arrives in the queue. */
  send(text: string, delaySeconds: number): void {
    const { lossRate, doubleRate } = this.#faults();
    if (this.#chance.is(lossRate)) return;
    const { taskDefinition } = JSON.parse(text) as { taskDefinition: string };
    const copies = this.#chance.is(doubleRate) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1)
      this.#show(taskDefinition, delaySeconds * 1_000 + this.#chance.between(5, 400));
  }

  #show(definition: string, inMs: number): void {
    this.#time.after(inMs, () => {
      const free = this.awake.filter((host) => (this.#busy.get(host) ?? 0) < this.#busyMax);
      if (free.length === 0) this.#show(definition, 500);
      else this.#invoke(this.#chance.pick(free), definition);
    });
  }

  #invoke(host: Host, definition: string): void {
    let isOver = false;
    const count = (change: number): void => {
      this.#busy.set(host, (this.#busy.get(host) ?? 0) + change);
    };
    count(1);
    host.deliver(0, () => {
      this.#handle(host, definition).then(
        () => {
          isOver = true;
          count(-1);
        },
        () => {
          isOver = true;
          count(-1);
          this.#show(definition, 5_000);
        },
      );
    });
    // The visibility of a message whose host is gone ends.
    const lookAgain = (): void => {
      if (isOver) return;
      if (host.isDead) this.#show(definition, 0);
      else this.#time.after(30_000, lookAgain);
    };
    this.#time.after(30_000, lookAgain);
  }
}
