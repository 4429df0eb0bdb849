// Which limit a definition meets, and how people read the names of functions under limits.

const callsPrefix = "calls:";

/** Functions that hold tokens in their invocations: such a definition has no tasks. */
export const isCalls = (name) => name.startsWith(callsPrefix);

/** `functions under partner-api`; other names as they are. */
export function shownName(name) {
  if (!isCalls(name)) return name;
  return `functions under ${name.slice(callsPrefix.length).replace(/ #[0-9a-f]{12}$/, "")}`;
}

/**
 * The definition's own limit; where it has none the narrowest of those that it shares. `shared` is its name then, and `held` counts
 * the tokens of all definitions.
 */
export function limitInForce({ limit, held, sharedLimits }) {
  const own = { limit, shared: null, held };
  if (limit !== null) return own;
  return sharedLimits.reduce(
    (found, each) =>
      each.limit !== null && each.limit < (found.limit ?? Infinity)
        ? { limit: each.limit, shared: each.name, held: each.held }
        : found,
    own,
  );
}
