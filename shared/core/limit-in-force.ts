/** What a definition tells of its limits. */
interface Limited {
  readonly limit: number | null;
  readonly held: number;
  readonly sharedLimits: readonly {
    readonly name: string;
    readonly limit: number | null;
    readonly held: number;
  }[];
}

/** The limit that a definition meets. */
interface LimitInForce {
  /** null: there is none. */
  readonly limit: number | null;
  /** The name of the shared limit; null: the limit is the definition's own. */
  readonly shared: string | null;
  /** Tokens held of it; of a shared limit by all definitions together. */
  readonly held: number;
}

/** The definition's own limit; where it has none the narrowest of those that it shares, of equal ones the first by name. */
export function limitInForce({ limit, held, sharedLimits }: Limited): LimitInForce {
  const own: LimitInForce = { limit, shared: null, held };
  if (limit !== null) return own;
  return sharedLimits.reduce<LimitInForce>(
    (found, each) =>
      each.limit !== null && each.limit < (found.limit ?? Infinity)
        ? { limit: each.limit, shared: each.name, held: each.held }
        : found,
    own,
  );
}
