import { createConnection, createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";

/** PostgreSQL's SSLRequest: its length, then the number that no version of the protocol has. */
export const sslRequest = "0000000804d2162f";

/** Stands before a server and remembers all that clients send; without a server it answers "no TLS here". */
export class FirstBytes {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #sent: Buffer[] = [];

  private constructor(target: number | null) {
    this.#server = createServer((near) => {
      const place = this.#sent.push(Buffer.alloc(0)) - 1;
      const far = target === null ? null : createConnection(target, "127.0.0.1");
      near.on("data", (chunk) => {
        this.#sent[place] = Buffer.concat([this.#sent[place] ?? Buffer.alloc(0), chunk]);
        if (far === null) near.write("N");
        else far.write(chunk);
      });
      far?.on("data", (chunk) => near.write(chunk));
      for (const socket of [near, far]) {
        if (socket === null) continue;
        this.#sockets.add(socket);
        const end = (): void => {
          near.destroy();
          far?.destroy();
        };
        socket.on("error", end);
        socket.on("close", end);
      }
    });
  }

  /** Before 127.0.0.1:`target`. */
  static async start(target: number | null): Promise<FirstBytes> {
    const recorder = new FirstBytes(target);
    await new Promise<void>((resolve) => recorder.#server.listen(0, "0.0.0.0", resolve));
    return recorder;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** What each connection has sent so far, the oldest first. */
  get sent(): readonly Buffer[] {
    return this.#sent;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
