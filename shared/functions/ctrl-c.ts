import process from "node:process";
import { nodeTimers } from "../platform/node-timers";

/** What of Node's `process` is used. */
type Target = Pick<NodeJS.Process, "env" | "exit" | "on">;

/** The host takes up to about 12 s to end; a worker that it has forgotten ends after this time. */
const forgottenMs = 20_000;

const kept = new WeakSet<Target>();

/**
 * Under `func start` the host and this process share a terminal, so Ctrl-C reaches both, and Node would end this one at once:
 * running tasks would come back only when their lease is over. Here the first Ctrl-C is left to the host, which tells this
 * process to end. A second one ends it at once. On Azure, where there is no terminal, nothing is changed. May be called
 * several times.
 */
export function leaveCtrlCToHost(target: Target = process): void {
  if (target.env["AZURE_FUNCTIONS_ENVIRONMENT"] !== "Development" || kept.has(target)) return;
  kept.add(target);
  let isSecond = false;
  target.on("SIGINT", () => {
    const end = (): never => target.exit(130);
    if (isSecond) end();
    isSecond = true;
    nodeTimers.after(forgottenMs, end);
  });
}
