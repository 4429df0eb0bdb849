import { createConnection, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import type { Dice } from "../support/dice";

/*
 * The network between hosts and the database. It cuts, stalls, holds back one direction, half-opens and delays connections, by
 * chance or all of them. What it does to a connection ends by itself.
 */

/** What may happen to a connection. `deaf`: requests arrive, answers don't. `halfOpen`: one end is gone and the other isn't told. */
export type NetworkTrouble = "cut" | "stall" | "deaf" | "halfOpen" | "delay";

/** One direction of a connection. What it is given it hands on in order, after its delay. */
class Lane {
  readonly #to: Socket;
  #dueMs = 0;
  delayMs = 0;

  constructor(from: Socket, to: Socket) {
    this.#to = to;
    from.on("data", (chunk) => {
      this.#take(chunk);
    });
  }

  #take(chunk: Buffer): void {
    const nowMs = performance.now();
    this.#dueMs = Math.max(this.#dueMs, nowMs + this.delayMs);
    const waitMs = this.#dueMs - nowMs;
    if (waitMs <= 0) this.#to.write(chunk);
    else
      setTimeout(() => {
        if (!this.#to.destroyed) this.#to.write(chunk);
      }, waitMs);
  }
}

/** A connection of a host, `near`, to the database, `far`. */
interface Link {
  readonly near: Socket;
  readonly far: Socket;
  readonly up: Lane;
  readonly down: Lane;
  /** One end is gone, and the other must not be told yet. */
  isHalfOpen: boolean;
}

export class Network {
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isRefusing = false;

  private constructor(target: () => { host: string; port: number }) {
    this.#server = createServer((near) => {
      if (this.#isRefusing) near.resetAndDestroy();
      else this.#join(near, createConnection(target()));
    });
  }

  static async start(port: () => number): Promise<Network> {
    const network = new Network(() => ({ host: "127.0.0.1", port: port() }));
    await new Promise<void>((resolve) => network.#server.listen(0, "127.0.0.1", resolve));
    return network;
  }

  /** The same address, through this network. */
  reach(url: string): string {
    const changed = new URL(url);
    changed.port = String((this.#server.address() as AddressInfo).port);
    return changed.toString();
  }

  /** Troubles so many of a hundred connections, for a time. Returns how many they were. */
  trouble(kind: NetworkTrouble, by: { dice: Dice; share: number; forMs: number }): number {
    const chosen = by.dice.some([...this.#links], by.share);
    for (const link of chosen) this.#trouble(kind, link, by);
    return chosen.length;
  }

  /** Refuses new connections for a time, and cuts the open ones. */
  refuse(forMs: number): void {
    this.#isRefusing = true;
    for (const link of this.#links) cut(link);
    this.#after(forMs, () => {
      this.#isRefusing = false;
    });
  }

  /** Ends all troubles: delayed packets arrive, half open connections are cut. */
  heal(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#isRefusing = false;
    for (const link of this.#links) {
      if (link.isHalfOpen) cut(link);
      resume(link);
    }
  }

  async close(): Promise<void> {
    this.heal();
    for (const link of this.#links) cut(link);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #trouble(kind: NetworkTrouble, link: Link, { dice, forMs }: { dice: Dice; forMs: number }): void {
    if (kind === "cut") {
      cut(link);
      return;
    }
    if (kind === "delay") {
      link.up.delayMs = dice.int(0, 300);
      link.down.delayMs = dice.int(0, 300);
    } else if (kind === "halfOpen") {
      link.isHalfOpen = true;
      if (dice.percent(50)) link.near.resetAndDestroy();
      else link.far.resetAndDestroy();
    } else {
      link.far.pause();
      if (kind === "stall") link.near.pause();
    }
    // Behind a stall some are cut: the answer is lost behind its commit.
    const isCut = kind === "halfOpen" || (kind !== "delay" && dice.percent(40));
    this.#after(forMs, () => {
      if (isCut) cut(link);
      else resume(link);
    });
  }

  #after(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      act();
    }, ms);
    this.#timers.add(timer);
  }

  #join(near: Socket, far: Socket): void {
    near.setNoDelay(true);
    far.setNoDelay(true);
    const up = new Lane(near, far);
    const down = new Lane(far, near);
    const link: Link = { near, far, up, down, isHalfOpen: false };
    this.#links.add(link);
    for (const socket of [near, far]) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (!link.isHalfOpen) cut(link);
        if (near.destroyed && far.destroyed) this.#links.delete(link);
      });
    }
  }
}

function cut({ near, far }: Link): void {
  for (const socket of [near, far]) if (!socket.destroyed) socket.resetAndDestroy();
}

function resume({ near, far, up, down }: Link): void {
  up.delayMs = 0;
  down.delayMs = 0;
  for (const socket of [near, far]) if (!socket.destroyed) socket.resume();
}
