/** How the server's program is started and ended. */
import type { PostgresBinaries } from "./postgres-binaries";
import type { ServiceOptions } from "./supervised-service";

/** A server that is about to start. */
export interface ServerPlan {
  readonly binaries: PostgresBinaries;
  readonly dataDir: string;
  /** `name=value`, without blanks. */
  readonly settings: readonly string[];
}

/** The program, and what ends it: first in order, then at once. */
export type ServerLaunch = Pick<ServiceOptions, "command" | "args" | "stopSteps">;

/** Is the server started through `pg_ctl` here? */
export const startsThroughPgCtl = process.platform === "win32";

/**
 * The server as a child of its own. Fast shutdown, immediate shutdown, the end: after SIGKILL the server's own children
 * notice the loss of their parent and go as well.
 */
export function launchDirectly({ binaries, dataDir, settings }: ServerPlan): ServerLaunch {
  return {
    command: binaries.postgres,
    args: ["-D", dataDir, ...settings.flatMap((setting) => ["-c", setting])],
    stopSteps: ["SIGINT", "SIGQUIT", "SIGKILL"],
  };
}

/**
 * The server through `pg_ctl`, for Windows. There the server refuses an administrator, and `pg_ctl` takes those rights away
 * (https://www.postgresql.org/docs/current/app-pg-ctl.html). A signal of Node kills at once there, so that the next start
 * would have to recover the data; `pg_ctl stop` asks. `pg_ctl start` itself ends soon: the service has ended when its output
 * is closed, which the server keeps open.
 */
export function launchThroughPgCtl({ binaries, dataDir, settings }: ServerPlan): ServerLaunch {
  const options = settings.map((setting) => `-c ${setting}`).join(" ");
  const stop = (mode: string): string[] => ["stop", "-D", dataDir, "-W", "-m", mode];
  return {
    command: binaries.pgCtl,
    args: ["start", "-D", dataDir, "-W", "-o", options],
    stopSteps: [
      { command: binaries.pgCtl, args: stop("fast") },
      { command: binaries.pgCtl, args: stop("immediate") },
    ],
  };
}
