import type { DefinitionSettings, Limit } from "../../shared/ports/task-store";
import { Broken } from "./broken";

/** An execution, as its party knows for sure: what it has been given and hasn't begun to give back. */
interface Holding {
  readonly definition: string;
  tokens: number;
  /** Until then, by the database's clock, its lease can't have ended. */
  leaseUntilMs: number;
  isOver: boolean;
  /** Fences by task. */
  readonly claims: Map<string, string>;
}

/** What a claim's answer tells. */
export interface Claimed {
  readonly task: string;
  readonly fence: string;
}

/**
 * The sure holders at this moment, for any answers that are still on their way: from the answer that gave it until the call that
 * gives it back is sent, while the lease lasts. All of it is held in the database, too, so the limits must hold for it.
 */
export class Holdings {
  readonly #settings: ReadonlyMap<string, DefinitionSettings>;
  readonly #executions = new Map<string, Holding>();
  /** The greatest that was ever asked for, by definition and by group. */
  readonly #limits = new Map<string, number>();
  readonly #slots = new Map<string, number>();
  /** By task; null: not known. */
  readonly #groups = new Map<string, string | null>();
  readonly #fences = new Set<string>();
  /** How far the clock may have been moved, and how far it has been. */
  #askedMs = 0;
  #movedMs = 0;

  constructor(settings: ReadonlyMap<string, DefinitionSettings>) {
    this.#settings = settings;
    for (const [name, { limit }] of settings) this.raiseLimit(name, limit);
  }

  /** The database's clock is at least there. */
  get movedMs(): number {
    return this.#movedMs;
  }

  beginMove(ms: number): void {
    this.#askedMs += ms;
  }

  endMove(ms: number): void {
    this.#movedMs += ms;
  }

  raiseLimit(definition: string, limit: Limit): void {
    const before = this.#limits.get(definition) ?? 0;
    this.#limits.set(definition, Math.max(before, limit ?? Infinity));
  }

  raiseSlots(group: string, slots: number): void {
    this.#slots.set(group, Math.max(this.#slots.get(group) ?? 0, slots));
  }

  /** A repeat may name another definition than the call that made the task: which one came first isn't known. */
  putInGroup(task: string, group: string): void {
    const known = this.#groups.get(task);
    this.#groups.set(task, known === undefined || known === group ? group : null);
  }

  /** Nothing of one that was started before: a repeat tells an earlier state. */
  start(execution: string, holding: Pick<Holding, "definition" | "tokens" | "leaseUntilMs">): void {
    if (this.#executions.has(execution)) return;
    this.#executions.set(execution, { ...holding, isOver: false, claims: new Map() });
    this.#checkTokens(holding.definition);
  }

  renew(execution: string, leaseUntilMs: number): void {
    const holding = this.#find(execution);
    if (holding !== undefined) holding.leaseUntilMs = Math.max(holding.leaseUntilMs, leaseUntilMs);
  }

  /** As an answer tells. */
  setTokens(execution: string, tokens: number): void {
    const holding = this.#find(execution);
    if (holding === undefined) return;
    holding.tokens = tokens;
    this.#checkTokens(holding.definition);
  }

  /** From now on it may hold no more than that. */
  keepTokens(execution: string, keep: number): void {
    const holding = this.#find(execution);
    if (holding !== undefined) holding.tokens = Math.min(holding.tokens, keep);
  }

  leave(execution: string, tasks: readonly string[]): void {
    const claims = this.#executions.get(execution)?.claims;
    for (const task of tasks) claims?.delete(task);
  }

  end(execution: string): void {
    const holding = this.#executions.get(execution);
    if (holding !== undefined) holding.isOver = true;
  }

  claim(execution: string, claimed: readonly Claimed[]): void {
    const holding = this.#find(execution);
    for (const { task, fence } of claimed) {
      const key = `${task} under ${fence}`;
      if (this.#fences.has(key)) throw new Broken(`task ${key} was claimed twice`);
      this.#fences.add(key);
      this.#checkHolder(task, execution);
      holding?.claims.set(task, fence);
    }
    if (holding === undefined || claimed.length === 0 || !this.#isSure(holding)) return;
    const { definition, tokens, claims } = holding;
    const max = tokens * (1 + (this.#settings.get(definition)?.prefetchMax ?? 0));
    if (claims.size > max) {
      throw new Broken(`${execution} holds ${claims.size} claims with ${tokens} tokens`);
    }
    this.#checkGroups();
  }

  #find(execution: string): Holding | undefined {
    const holding = this.#executions.get(execution);
    return holding === undefined || holding.isOver ? undefined : holding;
  }

  #isSure({ isOver, leaseUntilMs }: Holding): boolean {
    return !isOver && this.#askedMs <= leaseUntilMs;
  }

  #sure(): [string, Holding][] {
    return [...this.#executions].filter(([, holding]) => this.#isSure(holding));
  }

  #checkTokens(definition: string): void {
    const held = this.#sure()
      .filter(([, holding]) => holding.definition === definition)
      .reduce((sum, [, { tokens }]) => sum + tokens, 0);
    const limit = this.#limits.get(definition) ?? 0;
    if (held > limit) {
      throw new Broken(`${definition}: ${held} tokens are held at once, the limit is ${limit}`);
    }
  }

  #checkHolder(task: string, claimer: string): void {
    const other = this.#sure().find(
      ([execution, { claims }]) => execution !== claimer && claims.has(task),
    );
    if (other === undefined) return;
    throw new Broken(`task ${task} was given to ${claimer} while ${other[0]} held it`);
  }

  #checkGroups(): void {
    const used = new Map<string, number>();
    for (const [, { claims }] of this.#sure()) {
      for (const task of claims.keys()) {
        const group = this.#groups.get(task);
        if (group != null) used.set(group, (used.get(group) ?? 0) + 1);
      }
    }
    for (const [group, count] of used) {
      const slots = this.#slots.get(group) ?? 0;
      if (count > slots) throw new Broken(`group ${group}: ${count} at once, slots ${slots}`);
    }
  }
}
