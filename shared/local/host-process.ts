/**
 * A process with one local Functions host in it, started by host-children.ts. The IPC channel is its lifeline: when the
 * starting process is gone, however it went, this one ends at once; what it held comes back when the leases end.
 */
import { messageOf } from "../core/foreign-value";
import type { HostOrder, HostReport } from "./host-children";
import { startFunctionsHost } from "./functions-host/host";
import type { FunctionsHost } from "./functions-host/host";

/** Azure waits 10 s for running invocations before it tells them to stop; a local run needn't wait that long. */
const drainMs = 50;
/**
 * Azure hides a fetched event for 10 min, so an event of a killed worker comes back that late. A local run brings it back
 * soon: a run to its end (`--once`) waits for every event. A worker that works on renews the lease at half of it.
 */
const leaseMs = 10_000;

let host: FunctionsHost | undefined;

function report(message: HostReport): void {
  // A parent that is gone needs no report; the callback keeps a broken channel from throwing.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

async function start(order: Extract<HostOrder, { kind: "start" }>): Promise<void> {
  try {
    host = await startFunctionsHost({
      appRoot: order.appRoot,
      port: order.port,
      env: order.env,
      runsTimers: order.runsTimers,
      limits: { drainMs, leaseMs },
      onTimerEnd: (name, error) => {
        const failure = error === undefined ? null : messageOf(error);
        report({ kind: "timer", name, failure });
      },
      log: (level, text, source) => {
        const name = source === undefined ? "" : `${source.functionName}: `;
        report({ kind: "log", level, text: `${name}${text}` });
      },
    });
    report({ kind: "started", url: host.url, routes: [...host.routes] });
  } catch (error) {
    report({ kind: "failed", message: messageOf(error) });
  }
}

async function stop(): Promise<void> {
  await host?.stop();
  process.exit(0);
}

process.on("message", (order: HostOrder) => {
  if (order.kind === "start") void start(order);
  else void stop();
});
process.on("disconnect", () => process.exit(1));
// Ctrl-C at a terminal reaches every process of the group; the starting process decides when this one ends.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
