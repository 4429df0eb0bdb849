import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";

/** The only address anything local listens on. */
export const LOCAL_HOST = "127.0.0.1";

/**
 * Finds a TCP port that was free on 127.0.0.1 a moment ago. Another process may take it before the
 * caller does, so a caller that starts a service on it should try again with another one.
 */
export async function findFreePort(): Promise<number> {
  const port = await probePort(0);
  if (port === null) throw new Error("The system has no free TCP port on 127.0.0.1.");
  return port;
}

/** Whether a TCP port of 127.0.0.1 can be listened on right now. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await probePort(port)) !== null;
}

/** Listens for a moment; answers the port, or null if it is taken or not allowed. */
async function probePort(port: number): Promise<number | null> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => {
      resolve(null);
    });
    server.listen(port, LOCAL_HOST, () => {
      const given = portOf(server);
      server.close(() => {
        resolve(given);
      });
    });
  });
}

/** The port that a server listens on. */
export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}
