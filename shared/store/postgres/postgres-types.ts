import type { CustomTypesConfig } from "pg";

const boolType = 16;
/** int2, int4, oid, float4 and float8; numbers that a `number` doesn't hold stay texts. */
const numberTypes: ReadonlySet<number> = new Set([21, 23, 26, 700, 701]);

/**
 * How the store's own statements are read, whatever parsers the program has set for its own rows, such as
 * `pg.types.setTypeParser(20, BigInt)`: those are set for all connections of a process.
 */
export const ownTypes: CustomTypesConfig = {
  getTypeParser:
    (oid: number) =>
    (text: string): unknown => {
      if (oid === boolType) return text === "t";
      return numberTypes.has(oid) ? Number(text) : text;
    },
};
