import type { LockMode } from "./modes";
import type { LockTouch } from "../storage/recorder";
import { areCompatible, combineModes, isCovered } from "./modes";

/** A request for a lock. `session` is the number of a connection: locks of one connection never conflict. */
export interface LockRequest {
  session: number;
  resource: string;
  mode: LockMode;
}

/** One line of the lock table. */
export interface LockLine extends LockRequest {
  isGranted: boolean;
}

interface Waiter {
  session: number;
  /** What it will hold: what it held before and what it asks for, together. */
  mode: LockMode;
  isConversion: boolean;
}

interface Resource {
  granted: Map<number, LockMode>;
  queue: Waiter[];
}

/**
 * The granted locks and the waiting requests. Knows nothing of rows: a resource is a name. L3: a new request waits when it
 * conflicts with anything granted or queued before it; a conversion looks at granted ones only, and stands first
 * [doc: Transaction locking and row versioning guide; the order among conversions is an assumption].
 */
export class LockManager {
  readonly #resources = new Map<string, Resource>();
  readonly #held = new Map<number, Map<string, LockMode>>();
  readonly #waits = new Map<number, string>();
  readonly #onGrant: (session: number) => void;
  /** Told of each resource that is asked for, queued at or given back. */
  onTouch: ((resource: string, mode: LockMode, what: LockTouch) => void) | undefined;

  /** `onGrant` is called for each waiter that gets its lock. */
  constructor(onGrant: (session: number) => void) {
    this.#onGrant = onGrant;
  }

  modeOf(session: number, resource: string): LockMode | undefined {
    return this.#held.get(session)?.get(resource);
  }

  locksOf(session: number): ReadonlyMap<string, LockMode> {
    return this.#held.get(session) ?? noLocks;
  }

  /** Grants now, or says no. Never queues. */
  tryAcquire(request: LockRequest): boolean {
    const { session, resource, mode } = request;
    const known = this.#resources.get(resource);
    if (known === undefined) {
      this.onTouch?.(resource, mode, "asks");
      const fresh: Resource = { granted: new Map(), queue: [] };
      this.#resources.set(resource, fresh);
      this.#grant(fresh, request);
      return true;
    }
    const before = known.granted.get(session);
    if (isCovered(before, mode)) return true;
    const target = combineModes(before, mode);
    this.onTouch?.(resource, target, before === "U" && target === "X" ? "converts" : "asks");
    if (!isGrantable(known, { session, mode: target, isConversion: before !== undefined })) {
      return false;
    }
    this.#grant(known, { session, resource, mode: target });
    return true;
  }

  /** Queues a request that tryAcquire refused. */
  enqueue(request: LockRequest): void {
    const known = this.#resources.get(request.resource);
    if (known === undefined) throw new Error(`Nobody stands in the way at ${request.resource}`);
    this.onTouch?.(request.resource, request.mode, "waits");
    const before = known.granted.get(request.session);
    const waiter: Waiter = {
      session: request.session,
      mode: combineModes(before, request.mode),
      isConversion: before !== undefined,
    };
    const place = waiter.isConversion
      ? known.queue.findIndex((other) => !other.isConversion)
      : known.queue.length;
    known.queue.splice(place < 0 ? known.queue.length : place, 0, waiter);
    this.#waits.set(request.session, request.resource);
  }

  /** What this session waits for. */
  waitOf(session: number): { resource: string; mode: LockMode } | undefined {
    const resource = this.#waits.get(session);
    if (resource === undefined) return undefined;
    const waiter = this.#resources.get(resource)?.queue.find((one) => one.session === session);
    return waiter === undefined ? undefined : { resource, mode: waiter.mode };
  }

  /** Takes a waiter out of its queue; those behind it may move up. */
  cancelWait(session: number): void {
    const resource = this.#waits.get(session);
    if (resource === undefined) return;
    this.#waits.delete(session);
    const known = this.#resources.get(resource);
    if (known === undefined) return;
    this.onTouch?.(resource, "X", "waits");
    known.queue = known.queue.filter((waiter) => waiter.session !== session);
    this.#pump(resource, known);
  }

  /** Puts a lock back to its mode before a request: weaker, or none. */
  restore(session: number, resource: string, earlier: LockMode | undefined): void {
    const known = this.#resources.get(resource);
    const held = this.#held.get(session);
    const mode = held?.get(resource);
    if (known === undefined || held === undefined || mode === undefined) return;
    this.onTouch?.(resource, mode, "returns");
    if (earlier === undefined) {
      known.granted.delete(session);
      held.delete(resource);
    } else {
      known.granted.set(session, earlier);
      held.set(resource, earlier);
    }
    this.#pump(resource, known);
  }

  /** The end of a transaction: everything goes but what `keeps` names. */
  releaseAll(session: number, keeps: ReadonlySet<string> = nothingKept): void {
    const held = this.#held.get(session);
    if (held === undefined) return;
    for (const resource of [...held.keys()]) {
      if (!keeps.has(resource)) this.restore(session, resource, undefined);
    }
    if (held.size === 0) this.#held.delete(session);
  }

  /** Sessions that stand between a waiter and its lock. */
  blockersOf(session: number): number[] {
    const known = this.#resources.get(this.#waits.get(session) ?? "");
    const own = known?.queue.find((waiter) => waiter.session === session);
    if (known === undefined || own === undefined) return [];
    const blockers: number[] = [];
    for (const [other, mode] of known.granted) {
      if (other !== session && !areCompatible(own.mode, mode)) blockers.push(other);
    }
    if (own.isConversion) return blockers;
    for (const waiter of known.queue) {
      if (waiter === own) break;
      if (!areCompatible(own.mode, waiter.mode)) blockers.push(waiter.session);
    }
    return blockers;
  }

  /** L22: the sessions of a wait-for cycle through `start` [doc: Deadlocks guide]; undefined when there is none. */
  findCycle(start: number): number[] | undefined {
    const path: number[] = [];
    const seen = new Set<number>();
    const visit = (session: number): boolean => {
      if (session === start && path.length > 0) return true;
      if (seen.has(session)) return false;
      seen.add(session);
      path.push(session);
      if (this.blockersOf(session).some(visit)) return true;
      path.pop();
      return false;
    };
    return visit(start) ? path : undefined;
  }

  /** The lock table in a fixed order: holders of a resource, then those who wait for it. */
  list(): LockLine[] {
    return [...this.#resources.keys()].sort().flatMap((resource) => {
      const known = this.#resources.get(resource);
      const holders = [...(known?.granted ?? [])].sort(([left], [right]) => left - right);
      return [
        ...holders.map(([session, mode]) => ({ session, mode, resource, isGranted: true })),
        ...(known?.queue ?? []).map(({ session, mode }) => ({
          session,
          mode,
          resource,
          isGranted: false,
        })),
      ];
    });
  }

  /** The same as lines: `session mode resource`, and `waits` behind those who do. */
  describe(): string[] {
    return this.list().map(
      ({ session, mode, resource, isGranted }) =>
        `${session} ${mode} ${resource}${isGranted ? "" : " waits"}`,
    );
  }

  #grant(known: Resource, request: LockRequest): void {
    known.granted.set(request.session, request.mode);
    let held = this.#held.get(request.session);
    if (held === undefined) {
      held = new Map();
      this.#held.set(request.session, held);
    }
    held.set(request.resource, request.mode);
  }

  #pump(resource: string, known: Resource): void {
    if (known.queue.length > 0) {
      const waiting = known.queue;
      known.queue = [];
      for (const waiter of waiting) {
        if (!isGrantable(known, waiter)) {
          known.queue.push(waiter);
          continue;
        }
        this.#waits.delete(waiter.session);
        this.#grant(known, { session: waiter.session, resource, mode: waiter.mode });
        this.#onGrant(waiter.session);
      }
    }
    if (known.granted.size === 0 && known.queue.length === 0) this.#resources.delete(resource);
  }
}

const noLocks: ReadonlyMap<string, LockMode> = new Map();
const nothingKept: ReadonlySet<string> = new Set();

function isGrantable(known: Resource, wanted: Waiter): boolean {
  for (const [other, mode] of known.granted) {
    if (other !== wanted.session && !areCompatible(wanted.mode, mode)) return false;
  }
  if (wanted.isConversion) return true;
  return known.queue.every(
    (waiter) => waiter.session === wanted.session || areCompatible(wanted.mode, waiter.mode),
  );
}
