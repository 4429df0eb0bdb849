import { parseTokens } from "../../shared/core/token";
import { limitOf } from "../../shared/testing/memory-store/rows";
import type { DefinitionRow, SharedLimitRow } from "../../shared/testing/memory-store/state";
import type { World } from "./watch";

/** A limit, of its own or shared, that decides about a definition's tokens. */
export interface Bound {
  readonly row: DefinitionRow | SharedLimitRow;
  readonly limit: number;
}

/** All limits of a definition that are numbers: read from the rows, without the store's own helpers for it. */
export function boundsOf(world: World, definition: DefinitionRow): Bound[] {
  const shared = definition.sharedLimitIds.flatMap(
    (id) => world.database.rows.sharedLimits.get(id) ?? [],
  );
  const own = { row: definition, limit: limitOf(definition) };
  return [own, ...shared.map((row) => ({ row, limit: limitOfShared(row) }))].flatMap(
    ({ row, limit }) => (limit === null ? [] : [{ row, limit }]),
  );
}

/** The executions that hold a limit's tokens, one for each token. */
export function holdersOf({ row }: Bound): string[] {
  return parseTokens(row.executionTokens)
    .filter((token) => token.isHeld)
    .map((token) => token.grantee);
}

function limitOfShared({ operatorLimit, codeLimit }: SharedLimitRow): number | null {
  return operatorLimit === "code" ? codeLimit : operatorLimit;
}
