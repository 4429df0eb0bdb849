import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import type { Mutant } from "./mutants";

interface UniqueKey {
  readonly table: string;
  readonly columns: readonly string[];
}

/** Of every unique index of the shipped tables, by its name. */
let uniqueKeys: ReadonlyMap<string, UniqueKey> | undefined;

function readUniqueKeys(): ReadonlyMap<string, UniqueKey> {
  const keys = new Map<string, UniqueKey>();
  for (const { schema } of shippedWorld(engines.azure).tables) {
    for (const index of schema.indexes.filter(({ isUnique, filter }) => isUnique && !filter)) {
      const places = index.keyColumns.slice(0, index.declaredCount);
      const columns = places.map((place) => schema.columns[place]?.name ?? "?");
      keys.set(index.name, { table: schema.name, columns });
    }
  }
  return keys;
}

/**
 * Does a mutant cut out INDEX (..) of the one unique index all of whose columns are asked for by equality? Says no where it
 * can't tell: where anything behind the hint may be an alternative.
 */
export function namesWholeKey({ source, edits }: Mutant): boolean {
  const [edit] = edits;
  const name = edit && /INDEX\s*\((\w+)\)/.exec(source.textOf(edit))?.[1];
  if (edit === undefined || name === undefined) return false;
  const alias = /\bAS (\w+)(?: WITH \([^)]*)?\s*$/.exec(source.text.slice(0, edit.start))?.[1];
  const statement = source.statementAt(edit);
  if (alias === undefined || statement === undefined) return false;
  const rest = source.text.slice(edit.end, statement.span.end);
  if (/\bOR\b/i.test(rest)) return false;
  const isAsked = (column: string): boolean => new RegExp(`\\b${alias}\\.${column} = `).test(rest);
  uniqueKeys ??= readUniqueKeys();
  const table = uniqueKeys.get(name)?.table;
  const whole = [...uniqueKeys].filter(
    ([, key]) => key.table === table && key.columns.every(isAsked),
  );
  return whole.length === 1 && whole[0]?.[0] === name;
}
