/** Beyond so many all are forgotten. */
const rememberedMax = 1_000;

/** What this process knows of definitions, by their names; of one that it doesn't know, what `make` gives. */
export class RememberedDefinitions<Known> {
  readonly #known = new Map<string, Known>();
  readonly #make: () => Known;

  constructor(make: () => Known) {
    this.#make = make;
  }

  /** Remembered from now on. */
  of(definition: string): Known {
    const known = this.#known.get(definition);
    if (known !== undefined) return known;
    if (this.#known.size >= rememberedMax) this.#known.clear();
    const made = this.#make();
    this.#known.set(definition, made);
    return made;
  }

  /** undefined: it isn't known. */
  find(definition: string): Known | undefined {
    return this.#known.get(definition);
  }
}
