import type { JsonObject } from "../../shared/core/json";
import { taskRequest } from "../../shared/worker/define/task-ref";
import type { Chance } from "./chance";
import type { Host } from "./host";
import type { Run } from "./watch";
import { defineQueue } from "../../shared/worker/define/define-queue";
import { defineTask } from "../../shared/worker/define/define-task";
import type { AnyTaskKind, Definition } from "../../shared/worker/define/task-kind";
import type { TaskRequest } from "../../shared/worker/define/task-ref";
import type { TaskContext } from "../../shared/worker/define/task-context";

/** What a simulation's tasks are limited to; another one for each seed. */
export interface Definitions {
  readonly steady: Definition;
  readonly grouped: Definition;
  readonly wide: Definition;
  readonly parents: Definition;
}

/** Settings for one seed: small limits and short leases, so that they matter. */
export function drawDefinitions(chance: Chance): Definitions {
  const common = () => ({
    leaseMs: chance.whole(2_000, 12_000),
    prefetch: chance.whole(0, 2),
    // Deaths and failures are many here: only its handler ends a task.
    lostMax: 1_000,
    retry: { attempts: 1_000, baseMs: 100, capMs: 2_000 },
  });
  return {
    steady: defineQueue({ name: "steady", limit: chance.whole(1, 4), ...common() }),
    grouped: defineQueue({
      name: "grouped",
      limit: chance.whole(2, 5),
      group: { slots: 1, strict: true },
      ...common(),
    }),
    wide: defineQueue({ name: "wide", limit: null, ...common() }),
    parents: defineQueue({ name: "parents", limit: chance.whole(1, 3), ...common() }),
  };
}

/** What handlers tell of themselves. */
export interface RunObserver {
  begin(host: Host, context: TaskContext): Run;
  end(run: Run): void;
}

/** How often handlers behave badly. */
export interface Manners {
  readonly failRate: number;
  readonly partRate: number;
  /** Ignores its signal, for longer than its lease. */
  readonly deafRate: number;
  /** Would last longer than an execution; ends on its signal. */
  readonly longRate: number;
}

/** The kinds as one host runs them: each tells when it begins and when it ends. */
export function createKinds(options: {
  host: Host;
  chance: Chance;
  definitions: Definitions;
  observer: RunObserver;
  manners: () => Manners;
}): AnyTaskKind[] {
  const { host, chance, definitions, observer, manners } = options;
  const work = async (context: TaskContext, maxMs: number): Promise<void> => {
    const run = observer.begin(host, context);
    try {
      const isDeaf = chance.is(manners().deafRate);
      if (isDeaf) await host.sleep(chance.between(1_000, 60_000));
      else {
        const ms = chance.is(manners().longRate) ? 60_000 : chance.between(1, maxMs);
        await host.sleep(ms, context.signal);
      }
      if (!isDeaf) context.signal.throwIfAborted();
      if (chance.is(manners().failRate)) throw new Error("this one fails now and then");
    } finally {
      observer.end(run);
    }
  };
  const plain = (name: string, definition: Definition, maxMs: number): AnyTaskKind =>
    defineTask<JsonObject>({
      name,
      queue: definition,
      groupKey: (payload) => (typeof payload["group"] === "string" ? payload["group"] : null),
      run: async (_, context) => {
        await work(context, maxMs);
        if (chance.is(manners().partRate)) return context.checkpoint({ part: context.attempt });
        return { ok: true };
      },
    });
  const child = plain("child", definitions.steady, 200);
  const parent = defineTask<{ key: string }>({
    name: "parent",
    queue: definitions.parents,
    run: async ({ key }, context) => {
      await work(context, 500);
      const add = () => context.enqueue(child, { key: `child of ${key}` });
      if (chance.is(0.5)) await add();
      else await context.completeWith(add);
    },
  });
  return [
    plain("steady", definitions.steady, 1_500),
    plain("grouped", definitions.grouped, 400),
    plain("wide", definitions.wide, 800),
    child,
    parent,
  ];
}

/** Enqueued tasks; each key comes once. */
export function drawRequests(
  chance: Chance,
  kinds: readonly AnyTaskKind[],
  nextKey: () => string,
): TaskRequest[] {
  return Array.from({ length: chance.whole(1, 8) }, () => {
    // Transactions on the memory store copy all rows: few of them.
    const task = chance.pick(
      kinds.filter((kind) => kind.kind !== "child" && (kind.kind !== "parent" || chance.is(0.3))),
    );
    const group = task.kind === "grouped" ? { group: `g${String(chance.whole(1, 3))}` } : {};
    const payload = { key: nextKey(), ...group };
    return taskRequest(task, payload, {
      ...(chance.is(0.2) && task.kind !== "grouped" ? { priority: chance.whole(50, 150) } : {}),
      // A task that is scheduled joins its group's order when it is due.
      ...(chance.is(0.15) && task.kind !== "grouped" ? { runInMs: chance.whole(100, 5_000) } : {}),
    });
  });
}
