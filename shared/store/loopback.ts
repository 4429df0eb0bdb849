import { isIPv4 } from "node:net";

/**
 * Is this host the machine itself? Only there may traffic be in the clear unasked. Names below `localhost` aren't taken
 * for it: they are looked up as any other name, and a name server may answer them with any address.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return name === "localhost" || name === "::1" || (isIPv4(name) && name.startsWith("127."));
}
