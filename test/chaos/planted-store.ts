import type { TaskStore, WorkAnswer, WorkInput } from "../../shared/ports/task-store";

/** Faults of a worker, planted before its store. Those of the database are in planted-sql.ts. */
export const storePlants = ["no-settle"] as const;

/** The store, with the fault of that name; as it is, where the fault isn't a worker's. */
export function plantedStore(store: TaskStore, plant: string | null): TaskStore {
  return plant === "no-settle" ? releasesEarly(store) : store;
}

/** Gives all tokens back as soon as tasks are claimed, before their handlers have settled. */
function releasesEarly(store: TaskStore): TaskStore {
  const work = async (input: WorkInput): Promise<WorkAnswer> => {
    const answer = await store.work(input);
    if (answer.claimed.length > 0)
      await store.releaseTokens({ executionId: input.executionId, keep: 0 });
    return answer;
  };
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "work") return work;
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
