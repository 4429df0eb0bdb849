import type { World } from "../../tsql-server/engine/world";
import type { Mutant } from "./mutants";
import { moduleOf } from "./coverage";
import type { Killer } from "./verdict";

/** Something that shipped files pass, and that may notice a mutant. */
export interface Check {
  readonly title: string;
  /** Statements that it runs on the shipped files, as `module#id`. */
  readonly ran: ReadonlySet<string>;
  /** How much it does there, in a measure of its own kind: the smaller ones are tried first. */
  readonly size: number;
  /** Runs it on copies of a world; undefined: it is content. */
  run(template: World): Promise<Noticed | undefined>;
}

export interface Noticed {
  readonly by: Killer;
  readonly why: string;
}

/** The code that ran between two reads of a world's coverage. */
export class CoverageWatch {
  readonly #world: World;
  readonly #before = new Map<object, number>();

  constructor(world: World) {
    this.#world = world;
    for (const { statements } of world.coverage.modules.values()) {
      for (const statement of statements.values()) this.#before.set(statement, statement.runs);
    }
  }

  ran(): Set<string> {
    const keys = new Set<string>();
    for (const [module, { statements }] of this.#world.coverage.modules) {
      for (const [id, statement] of statements) {
        // Names are made of the few that ran only: there are thousands of statements, and a look for every check.
        if (statement.runs > (this.#before.get(statement) ?? 0)) keys.add(`${module}#${id}`);
      }
    }
    return keys;
  }
}

/**
 * Which checks to try first: what found one mutant of a statement will find the next, most likely; then those that are
 * about the mutant's file. Decides on speed only.
 */
export class CheckOrder {
  readonly #lastKillers = new Map<string, Check[]>();
  readonly #focus = new Map<string, Map<Check, number>>();

  /** A check has noticed a mutant. */
  note(mutant: Mutant, check: Check): void {
    for (const key of keysOf(mutant)) {
      const others = (this.#lastKillers.get(key) ?? []).filter((other) => other !== check);
      this.#lastKillers.set(key, [check, ...others].slice(0, killersMax));
    }
  }

  sort(mutant: Mutant, checks: readonly Check[]): Check[] {
    const killers = keysOf(mutant).flatMap((key) => this.#lastKillers.get(key) ?? []);
    const rankOf = (check: Check): number => {
      const rank = killers.indexOf(check);
      return rank < 0 ? killers.length : rank;
    };
    return checks
      .map((check) => ({ check, rank: rankOf(check), focus: this.#focusOf(mutant, check) }))
      .sort((a, b) => a.rank - b.rank || b.focus - a.focus)
      .map(({ check }) => check);
  }

  /** How much of what a check runs belongs to the mutant's file: 0..1. */
  #focusOf({ source }: Mutant, check: Check): number {
    const known = this.#focus.get(source.name) ?? new Map<Check, number>();
    this.#focus.set(source.name, known);
    let focus = known.get(check);
    if (focus === undefined) {
      const prefix = `${moduleOf(source) ?? ""}#`;
      const own = [...check.ran].filter((key) => key.startsWith(prefix)).length;
      focus = check.ran.size === 0 ? 0 : own / check.ran.size;
      known.set(check, focus);
    }
    return focus;
  }
}

const killersMax = 12;

/** The statement, then its file. */
function keysOf({ source, statementId }: Mutant): string[] {
  return [`${source.name}#${String(statementId)}`, source.name];
}
