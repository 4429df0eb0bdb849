import type { Admin } from "../../../shared/admin/create-admin";
import { createAdmin } from "../../../shared/admin/create-admin";
import { nodeTimers } from "../../../shared/platform/node-timers";
import { realRandom } from "../../../shared/platform/real-clock";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";

/** An admin over a store in memory, whose clock stands still. */
export function openMemoryAdmin(): { store: MemoryTaskStore; admin: Admin } {
  const store = new MemoryTaskStore({
    clock: { now: () => 1_700_000_000_000 },
    random: realRandom,
  });
  const admin = createAdmin({
    ...{ store, random: realRandom, timers: nodeTimers, build: 1, traceUrl: null },
    wakeUp: { hint: () => Promise.resolve() },
  });
  return { store, admin };
}
