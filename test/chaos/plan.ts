import type { JsonObject } from "../../shared/core/json";
import type { TaskContext } from "../../shared/worker/define/task-context";
import { defineQueue } from "../../shared/worker/define/define-queue";
import { defineTask } from "../../shared/worker/define/define-task";
import type { Definition, TaskKind } from "../../shared/worker/define/task-kind";
import type { Continuation, HandlerResult } from "../../shared/worker/define/task-context";

/*
 * The workload: two definitions that draw from one shared limit. `main` has groups of two slots, `side` strict ones of one.
 * Build 2 and later have a kind that build 1 doesn't know, and other settings.
 */
export const mainName = "chaos-main";
export const sideName = "chaos-side";
export const newKind = "chaos-new";
export const sharedName = "chaos-shared";
export const leaseMs = 3_000;
/** The first of all priorities: a task that has it and comes back is before all others. */
export const firstPriority = 50;

/** Slots of a group, by definition. */
export const groupSlots: Readonly<Record<string, number>> = { [mainName]: 2, [sideName]: 1 };

/** How a task is to end: what its handler does. */
export type Way = "return" | "commit" | "throw" | "continue" | "block" | "child";

export interface ChaosPayload extends JsonObject {
  way: Way;
  /** How long it takes. */
  ms: number;
  /** It ignores its signal: the stated remainder of the limit, whose writes are fenced. */
  isStubborn: boolean;
  group: string | null;
  /** As its task has it, for the ledger. */
  priority: number;
}

export type ChaosHandler = (
  payload: ChaosPayload,
  context: TaskContext,
) => Promise<HandlerResult | Continuation>;

/** The kinds of a build. */
export function kindsOf(build: number, run: ChaosHandler): TaskKind<ChaosPayload>[] {
  const main = definitionOf(mainName, build);
  const side = definitionOf(sideName, build);
  const kinds = [
    defineTask<ChaosPayload>({ name: mainName, queue: main, group: { by: "group" }, run }),
    defineTask<ChaosPayload>({ name: sideName, queue: side, group: { by: "group" }, run }),
  ];
  if (build > 1)
    kinds.push(
      defineTask<ChaosPayload>({ name: newKind, queue: main, group: { by: "group" }, run }),
    );
  return kinds;
}

function definitionOf(name: string, build: number): Definition {
  return defineQueue({
    name,
    limit: 4,
    within: [{ name: sharedName, limit: 6 }],
    leaseMs,
    lostMax: 1_000,
    retry: { attempts: 1_000 - build, baseMs: 200, capMs: 1_000 },
    group: { slots: groupSlots[name] ?? 1, strict: name === sideName },
  });
}

/** The table that handlers write their effect into, in the completion's own transaction. */
export const effectTable = `
  create table public.effect (task_id bigint not null, fence bigint not null);
  grant insert on public.effect to taskgate_worker;`;
