/** A stack of calls, outermost first, and how much of the processor time was seen in it. */
export interface Stack {
  readonly frames: readonly Frame[];
  readonly weight: number;
}

/** A call of a stack. `origin`: whose code it is, such as a package. */
export interface Frame {
  readonly name: string;
  readonly origin: string;
}

export function weightOf(stacks: readonly Stack[]): number {
  return stacks.reduce((sum, { weight }) => sum + weight, 0);
}

/** Weight by what is said of the innermost call, the greatest first. */
export function weightBy(
  stacks: readonly Stack[],
  keyOf: (innermost: Frame) => string,
): [key: string, weight: number][] {
  const weights = new Map<string, number>();
  for (const { frames, weight } of stacks) {
    const innermost = frames.at(-1);
    if (innermost === undefined) continue;
    const key = keyOf(innermost);
    weights.set(key, (weights.get(key) ?? 0) + weight);
  }
  return [...weights].toSorted(([, a], [, b]) => b - a);
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
