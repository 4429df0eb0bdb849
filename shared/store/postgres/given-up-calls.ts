import { setTimeout as pause } from "node:timers/promises";
import { StoreUncertainError } from "../../core/errors";

/*
 * A call that has no answer in time is given up, and its session on the server goes on: it waits for a lock, or its commit for a
 * standby. With a new connection for each further call such sessions would fill the server. So the connection keeps its place in the
 * pool until the server has let go of it.
 */

/** A call that was given up. */
export class GaveUpError extends StoreUncertainError {
  /** Settles when the server has answered after all, or the connection is gone. Never rejects. */
  readonly answered: Promise<void>;

  constructor(timeoutMs: number, answer: Promise<unknown>) {
    super(`PostgreSQL gave no answer within ${String(timeoutMs)} ms`);
    this.answered = answer.then(
      () => undefined,
      () => undefined,
    );
    // Not for logs, which take an error apart.
    Object.defineProperty(this, "answered", { enumerable: false });
  }
}

/**
 * A row while the session still works. Ends its statement, except where a commit waits for a standby: broken off there it would be seen
 * before it is safe.
 */
export const endStatementText = `
  select case when a.wait_event is distinct from 'SyncRep' then pg_catalog.pg_cancel_backend(a.pid) end
    from pg_catalog.pg_stat_activity a
   where a.pid = $1 and a.backend_start = $2::timestamptz and a.usename = current_user and a.state = 'active'`;

/** A session of the server: after a failover another server has sessions of the same numbers. */
export interface Backend {
  readonly pid: number;
  /** As the server writes it. */
  readonly startedAt: string;
}

/** The first look comes back soon, as an end takes a moment; later ones cost a connection each. */
const pausesMs = [1_000, 5_000, 60_000] as const;

/**
 * Resolves when the session of a call that was given up has ended or is idle, or when the server can't be asked. `isActive` asks, and
 * tries to end it. Never rejects.
 */
export async function letGo(
  { answered }: GaveUpError,
  isActive: () => Promise<boolean>,
): Promise<void> {
  const isAnswered = answered.then(() => true);
  for (let look = 0; await isActive().catch(() => false); look += 1) {
    const pauseMs = pausesMs[Math.min(look, pausesMs.length - 1)];
    // A process may end meanwhile.
    if (await Promise.race([isAnswered, pause(pauseMs, false, { ref: false })])) return;
  }
}
