import { isIPv4 } from "node:net";

/**
 * Is this host the machine itself? Only there may traffic be in the clear unasked. Names below `localhost` aren't taken
 * for it: a name server is asked for them, and may answer with every address.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name === "::1" || (isIPv4(name) && name.startsWith("127."));
}
