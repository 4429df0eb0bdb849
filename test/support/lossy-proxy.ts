import { createConnection, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/*
 * A network between a program and PostgreSQL that can lose an answer: the request arrives and is committed, and the
 * connection breaks before the program has heard of it.
 */

/** First bytes of the messages that run something: Query, Parse, Bind. */
const requestBytes = new Set(["Q", "P", "B"].map((letter) => letter.charCodeAt(0)));
/** ReadyForQuery outside a transaction: the statements are committed. */
const committed = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export class LossyProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isArmed = false;
  #lost = 0;

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer((near) => {
      this.#join(near, createConnection(target));
    });
  }

  static async start(target: { host: string; port: number }): Promise<LossyProxy> {
    const proxy = new LossyProxy(target);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Answers that were lost. */
  get lost(): number {
    return this.#lost;
  }

  /** The answer to the next request is lost behind its commit. */
  loseNext(): void {
    this.#isArmed = true;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #join(near: Socket, far: Socket): void {
    let isLosing = false;
    let held = Buffer.alloc(0);
    const end = (): void => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("error", end);
      socket.on("close", () => {
        this.#sockets.delete(socket);
        end();
      });
    }
    near.on("data", (chunk) => {
      if (this.#isArmed && requestBytes.has(chunk[0] ?? 0)) {
        this.#isArmed = false;
        isLosing = true;
      }
      far.write(chunk);
    });
    far.on("data", (chunk) => {
      if (!isLosing) {
        near.write(chunk);
        return;
      }
      held = Buffer.concat([held, chunk]);
      if (!held.subarray(-committed.length).equals(committed)) return;
      this.#lost += 1;
      end();
    });
  }
}
