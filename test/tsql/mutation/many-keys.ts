import { enqueue, reclaim, register, start, work } from "../cases/calls";
import type { KillCase } from "../cases/kill";
import { leaseOver } from "../cases/model-case";

/** Tasks 1, 2, 3 of definition a run; their keys are in the opposite order. */
const claimed = [
  register(),
  enqueue([{ dedupeKey: "z" }, { dedupeKey: "m" }, { dedupeKey: "c" }]),
  start(1, 3),
  work({ execution: 1, call: 1, want: 3 }),
];

/** A worker of each definition has died once too often: the tasks and the keys of b come before those of a. */
const lost = [
  register({ lostMax: 0 }),
  register({ name: "b", lostMax: 0 }),
  enqueue([{ dedupeKey: "d" }, { dedupeKey: "c" }], { name: "b" }),
  enqueue([{ dedupeKey: "z" }, { dedupeKey: "y" }]),
  start(1, 2, { name: "b" }),
  start(2, 2),
  work({ execution: 1, call: 1, want: 2 }),
  work({ execution: 2, call: 1, want: 2 }),
  leaseOver,
];

/** Ends of several tasks with keys, for the order of the keys. */
export const endsOfKeys: readonly KillCase[] = [
  {
    name: "work-of-keyed-tasks",
    setup: claimed,
    call: work({
      execution: 1,
      call: 2,
      done: [1, 2, 3].map((task) => ({ task, fence: 1 })),
    }),
  },
  { name: "reclaim-of-keyed-tasks", setup: lost, call: reclaim },
];
