import { once } from "node:events";
import { createConnection, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";

/** A way to the database that can fall silent: connections stay open, and nothing comes through any more. */
export async function startNetwork(address: URL) {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const far = createConnection(Number(address.port), address.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined);
      from.on("close", () => to.destroy());
      // A connection opened in the silence stays half-open.
      let isLost = isSilent;
      from.on("data", (data) => {
        isLost ||= isSilent;
        if (!isLost) to.write(data);
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = new URL(address);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    fallSilent: () => Promise.resolve((isSilent = true)),
    speakAgain: () => Promise.resolve((isSilent = false)),
    /** Ways that are open now. */
    count: () =>
      new Promise<number>((resolve) => {
        server.getConnections((_, count) => {
          resolve(count);
        });
      }),
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
