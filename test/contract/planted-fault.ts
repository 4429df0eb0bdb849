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
  onePlace: "P3 each unfinished task stands in exactly one place",
  exists: "P3 a place holds only tasks that exist",
  own: "P3 a task stands under its own definition",
  defined: "P3 a task belongs to a definition",
  finished: "P3 a finished task is not unfinished, too",
  order: "P4 ready tasks carry their task's order",
  claims: "P2 only a live or not yet reclaimed execution holds claims",
  lengths: "P2 claims and their fences are of one length",
  prefetched: "P1 prefetched claims are claims",
  readable: "P1 the token string can be read",
  grantee: "P1 a held token has a grantee",
  counted: "P1 tokens held equal tokens counted",
  heldCount: "P1 the count of held tokens is that of the token string",
  unlimited: "P1 without a limit there is no token string",
  free: "P1 free tokens do not exceed the limit",
  sharedReadable: "P1 the token string of a shared limit can be read",
  sharedGrantee: "P1 a held token of a shared limit has a grantee",
  sharedCounted: "P1 tokens held of a shared limit equal tokens counted",
  sharedUnlimited: "P1 without a limit a shared limit has no token string",
  sharedFree: "P1 free tokens do not exceed a shared limit",
  slots: "P1 a group fills at most its slots",
  oneSlot: "P1 a grouped task in ready or claimed holds one slot",
  slotHeld: "P1 a slot is held by a task of the group that may run",
  outside: "P1 a task names its group while it holds a slot or waits for one",
  lostGroup: "P1 who needs a group finds it",
  freeSlot: "P3 a group with a free slot lets nobody wait",
  key: "P6 a key without a window belongs to an unfinished task",
  schedule: "P3 a schedule belongs to a definition",
  scheduleGroup: "P1 a group of a schedule has its schedule",
  counter: "P2 a counter stands above the numbers that it has given",
  batch: "S4 a wave belongs to a batch",
  wave: "S4 a wave counts its unfinished tasks",
  shards: "S4 a wave counts its open shards",
  open: "S4 a wave is open while it has unfinished tasks",
  holds: "S4 only waves that are blocked or being opened hold tasks",
  one: "S4 waves open one after the other",
} as const;
