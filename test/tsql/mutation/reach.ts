import { moduleOf } from "./coverage";
import type { Source } from "./source";

/** Which shipped modules may run once others are named: by the words of their texts, so rather too many than too few. */
export class Reach {
  readonly #words = new Map<string, ReadonlySet<string>>();

  constructor(sources: readonly Source[]) {
    for (const source of sources) {
      const name = bareName(moduleOf(source));
      if (name === undefined) continue;
      this.#words.set(name, new Set(source.tokens.map(({ upper }) => upper)));
    }
  }

  /** Of modules that are named in one of these texts, and of all that those name in turn. */
  of(texts: readonly string[]): ReadonlySet<string> {
    const reached = new Set<string>();
    const pending = texts.flatMap((text) => text.toUpperCase().match(/\w+/g) ?? []);
    for (let word = pending.pop(); word !== undefined; word = pending.pop()) {
      const words = this.#words.get(word);
      if (words === undefined || reached.has(word)) continue;
      reached.add(word);
      pending.push(...words);
    }
    return reached;
  }
}

/** Without schema, in capitals: as `Reach` names a module. undefined: a file that makes none. */
export function bareName(module: string | undefined): string | undefined {
  return module?.split(".").at(-1)?.toUpperCase();
}
