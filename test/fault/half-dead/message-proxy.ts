import { createConnection, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/*
 * A network between a program and PostgreSQL that breaks in front of one message of the program's, counted from when it
 * was armed, or when one is answered. Packets sent before arrive; of that message and of all behind it nothing does.
 */

/**
 * `cut`: both ends hear of it. `vanish`: only the program's end does, as when a machine loses its power and the server's
 * packets get no answer. `silence`: no peer is told, as when a process is frozen.
 */
export type Break = "cut" | "vanish" | "silence";
export const breaks: readonly Break[] = ["cut", "vanish", "silence"];

export class MessageProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #kind: Break;
  /** Messages that still pass; null: all do. */
  #left: number | null = null;
  #losesAnswer = false;
  /** Letters of the messages that were sent since it was armed. */
  #seen = "";

  private constructor(target: { host: string; port: number }, kind: Break) {
    this.#kind = kind;
    this.#server = createServer((near) => {
      this.#join(near, createConnection(target));
    });
  }

  static async start(target: { host: string; port: number }, kind: Break): Promise<MessageProxy> {
    const proxy = new MessageProxy(target, kind);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get seen(): string {
    return this.#seen;
  }

  /** Lets so many messages pass, and no more; `losesAnswer`: it breaks when the last one is answered. */
  breakAfter(messages: number, { losesAnswer = false } = {}): void {
    this.#left = messages;
    this.#losesAnswer = losesAnswer;
    this.#seen = "";
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket, far: Socket): void {
    let isBroken = false;
    let isStarted = false;
    let held: Buffer = Buffer.alloc(0);
    const breakNow = (): void => {
      isBroken = true;
      if (this.#kind !== "silence") near.destroy();
      if (this.#kind === "cut") far.destroy();
    };
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        if (!isBroken) other.destroy();
      });
    }
    near.on("data", (chunk: Buffer) => {
      if (isBroken) return;
      held = Buffer.concat([held, chunk]);
      for (;;) {
        // The first message has no letter in front of its length.
        const head = isStarted ? 1 : 0;
        if (held.length < head + 4) return;
        const size = head + held.readInt32BE(head);
        if (held.length < size) return;
        if (isStarted && !this.#mayPass(String.fromCharCode(held[0] ?? 0))) {
          breakNow();
          return;
        }
        isStarted = true;
        far.write(held.subarray(0, size));
        held = held.subarray(size);
      }
    });
    far.on("data", (chunk: Buffer) => {
      if (this.#losesAnswer && this.#left === 0) breakNow();
      if (!isBroken) near.write(chunk);
    });
  }

  #mayPass(letter: string): boolean {
    if (this.#left === null) return true;
    if (this.#left === 0) return false;
    this.#left -= 1;
    this.#seen += letter;
    return true;
  }
}
