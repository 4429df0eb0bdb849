import { hasMember } from "../../core/foreign-value";
import { createHash } from "node:crypto";
import { InvalidArgumentError } from "../../core/errors";
import { checkList, wrongValue } from "../../core/wrong-value";
import type { KindRules } from "../../ports/task-store";
import { storedKindsOf } from "./kind-upgrade";
import type { AnyTaskKind, Definition, KindSchedule, RunnableKind } from "./task-kind";

/** All kinds that this build can run, by definition. */
export interface Registry {
  readonly definitions: readonly Definition[];
  /** The definition of that name, or null. */
  definition(name: string): Definition | null;
  /** The kind that the database keeps under that name, of this version or an older one; null: it may belong to another build. */
  kind(name: string): RunnableKind | null;
  /** The longest time-out of the kinds of the definition of that name, ms; null: one of them has none. */
  longestTimeoutMs(definition: string): number | null;
  /** The schedules of all kinds of the definition of that name. */
  schedules(definition: string): readonly KindSchedule[];
}

/** Throws InvalidArgumentError, naming the place, unless it is a list of what `defineTask` returns. */
export function checkTasks(tasks: readonly unknown[]): void {
  checkList("tasks", tasks, "what defineTask returns");
  for (const [index, task] of tasks.entries()) {
    if (hasMember(task, "rules")) continue;
    throw wrongValue(`tasks[${String(index)}]`, "what defineTask returns", task);
  }
}

/**
 * Puts the kinds together. Throws InvalidArgumentError when a kind's name comes twice, or two definitions of one name
 * differ (the first to register would win, at random), or two schedules of one definition have one name.
 */
export function createRegistry(kinds: readonly AnyTaskKind[]): Registry {
  const byKind = new Map<string, RunnableKind>();
  const byName = new Map<string, Definition>();
  const schedules = new Map<string, KindSchedule[]>();
  for (const kind of kinds) {
    for (const stored of storedKindsOf(kind)) {
      if (byKind.has(stored))
        throw new InvalidArgumentError(`Expected each kind once, got \`${stored}\` twice`);
      byKind.set(stored, kind as unknown as RunnableKind);
    }
    const known = byName.get(kind.definition.name);
    if (known !== undefined && known.settingsHash !== kind.definition.settingsHash) {
      throw new InvalidArgumentError(
        `Expected one set of settings for queue \`${known.name}\`; share it with \`queue: defineQueue({ .. })\``,
      );
    }
    byName.set(kind.definition.name, kind.definition);
    const scheduled = schedules.get(kind.definition.name) ?? [];
    for (const schedule of kind.schedules) {
      if (scheduled.some(({ name }) => name === schedule.name)) {
        throw new InvalidArgumentError(
          `Expected each schedule of definition \`${kind.definition.name}\` to have a name of its own, got \`${schedule.name}\` twice; give them a \`name\``,
        );
      }
      scheduled.push(schedule);
    }
    schedules.set(kind.definition.name, scheduled);
  }
  const kindsOf = (definition: string) =>
    kinds.filter((kind) => kind.definition.name === definition);
  const definitions = new Map(
    [...byName].map(([name, definition]) => {
      const rules = kindsOf(name).map((kind) => kind.rules);
      return [name, withKinds(definition, rules)];
    }),
  );
  return {
    definitions: [...definitions.values()],
    definition: (name) => definitions.get(name) ?? null,
    kind: (name) => byKind.get(name) ?? null,
    longestTimeoutMs: (definition) => {
      const own = kindsOf(definition);
      if (own.some(({ timeoutMs }) => timeoutMs === null)) return null;
      return Math.max(0, ...own.map(({ timeoutMs }) => timeoutMs ?? 0));
    },
    schedules: (definition) => schedules.get(definition) ?? [],
  };
}

/** A definition with the rules of its kinds, which are part of what workers compare with the database. */
function withKinds(definition: Definition, kinds: readonly KindRules[]): Definition {
  const ruled = kinds.filter(
    ({ groupBy, isGroupComputed, priority, runInMs, dedupeBy }) =>
      isGroupComputed || [groupBy, priority, runInMs, dedupeBy].some((rule) => rule !== null),
  );
  if (ruled.length === 0) return { ...definition, kinds };
  const ordered = [...ruled].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  const settingsHash = createHash("sha256")
    .update(JSON.stringify([definition.settingsHash, ordered]))
    .digest("hex");
  return { ...definition, kinds, settingsHash };
}
