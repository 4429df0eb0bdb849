import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { killProcess } from "../platform/exit-process";
import { runLeaseThread } from "../platform/lease-thread";
import { realRandom, sleep } from "../platform/real-clock";
import type { LeaseThreadData } from "../platform/thread-lease-keeper";
import { openStore } from "../store/open-store";
import type { DatabaseAddress } from "../store/open-store";

/**
 * The program of the thread that renews leases while the event loop is blocked. One connection of its own, opened when it
 * is needed: it is one of TASKGATE_CONNECTIONS_MAX.
 */
export interface LeaseRenewer {
  readonly address: DatabaseAddress;
  /** Ends a process whose event loop is hung: nothing else can. */
  readonly endsHung: boolean;
}

/** A renewal that has no answer by then is tried again. */
const callTimeoutMs = 5_000;

const { program, turns, renewals } = workerData as LeaseThreadData<LeaseRenewer> & {
  renewals: MessagePort;
};

if (parentPort !== null) {
  runLeaseThread({
    store: openStore({
      ...program.address,
      ...{ connectionsMax: 1, callTimeoutMs, connectTimeoutMs: callTimeoutMs },
      random: realRandom,
      sleep,
    }),
    turns,
    orders: parentPort,
    renewals,
    onHung: (blockedMs) => {
      const seconds = String(Math.round(blockedMs / 1_000));
      const then = program.endsHung
        ? "This process is killed, to be started again"
        : "Its leases run out";
      // The event loop's own log can't be reached.
      writeSync(2, `error A task has blocked the event loop for ${seconds} s. ${then}\n`);
      if (program.endsHung) killProcess();
    },
  });
}
