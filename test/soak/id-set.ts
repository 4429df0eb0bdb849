const blockBits = 1 << 20;

/** A set of task ids, a bit for each: millions of them cost little. */
export class IdSet {
  readonly #blocks = new Map<number, Uint8Array>();

  /** False: it was there. */
  add(id: string): boolean {
    const number = Number(id);
    const block = this.#block(Math.floor(number / blockBits));
    const bit = number % blockBits;
    const mask = 1 << (bit & 7);
    const isNew = ((block[bit >> 3] ?? 0) & mask) === 0;
    block[bit >> 3] = (block[bit >> 3] ?? 0) | mask;
    return isNew;
  }

  has(id: string): boolean {
    const number = Number(id);
    const bit = number % blockBits;
    const byte = this.#blocks.get(Math.floor(number / blockBits))?.[bit >> 3] ?? 0;
    return (byte & (1 << (bit & 7))) !== 0;
  }

  #block(index: number): Uint8Array {
    const known = this.#blocks.get(index);
    if (known !== undefined) return known;
    const made = new Uint8Array(blockBits / 8);
    this.#blocks.set(index, made);
    return made;
  }
}
