import type { SqlDialect } from "./two-dialects";

/** What of the scene (fault-scene.ts) is damaged, and what `check_invariants` must find then: nothing else. */
export interface PlantedFault {
  readonly title: string;
  /** In the words of both databases (two-dialects.ts), or where they store something in their own ways, in each one's. */
  readonly sql: string | Partial<Record<SqlDialect, string>>;
  /** Rule, key and detail; none: it looks like a fault and isn't one. */
  readonly found: readonly (readonly [rule: string, key: string, detail: string])[];
}

/** The rules, by the names of their findings. */
export const rules = {
  onePlace: "each unfinished task stands in exactly one place",
  exists: "a place holds only tasks that exist",
  own: "a task stands under its own definition",
  defined: "a task belongs to a definition",
  finished: "a finished task is not unfinished, too",
  order: "ready tasks carry their task's order",
  claims: "only a live or not yet reclaimed execution holds claims",
  lengths: "claims and their fences are of one length",
  prefetched: "prefetched claims are claims",
  readable: "the token string can be read",
  grantee: "a held token has a grantee",
  counted: "tokens held equal tokens counted",
  heldCount: "the count of held tokens is that of the token string",
  unlimited: "without a limit there is no token string",
  free: "free tokens do not exceed the limit",
  sharedReadable: "the token string of a shared limit can be read",
  sharedGrantee: "a held token of a shared limit has a grantee",
  sharedCounted: "tokens held of a shared limit equal tokens counted",
  sharedUnlimited: "without a limit a shared limit has no token string",
  sharedFree: "free tokens do not exceed a shared limit",
  slots: "a group fills at most its slots",
  oneSlot: "a grouped task in ready or claimed holds one slot",
  slotHeld: "a slot is held by a task of the group that may run",
  outside: "a task names its group while it holds a slot or waits for one",
  lostGroup: "a group that a row names exists",
  freeSlot: "no task waits for a group that has a free slot",
  key: "a key without a window belongs to an unfinished task",
  schedule: "a schedule belongs to a definition",
  scheduleGroup: "a group of a schedule has its schedule",
  counter: "a counter stands above the numbers that it has given",
  batch: "a wave belongs to a batch",
  wave: "a wave counts its unfinished tasks",
  shards: "a wave counts its open shards",
  open: "a wave is open while it has unfinished tasks",
  holds: "only waves that are blocked or being opened hold tasks",
  one: "waves open one after the other",
} as const;
