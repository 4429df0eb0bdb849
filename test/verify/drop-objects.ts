import type { BatchConnection } from "./batch-connection";

const kinds: readonly { readonly word: string; readonly types: readonly string[] }[] = [
  { word: "PROCEDURE", types: ["P"] },
  { word: "VIEW", types: ["V"] },
  { word: "FUNCTION", types: ["FN", "IF", "TF"] },
  { word: "TABLE", types: ["U"] },
  { word: "SEQUENCE", types: ["SO"] },
];

/** Drops everything that stands in a schema, in an order in which nothing is still needed; not the schema itself. */
export async function dropObjects(connection: BatchConnection, schema: string): Promise<void> {
  const { rows } = await connection.must(
    `SELECT o.name AS Name, RTRIM(o.type) AS Kind FROM sys.objects AS o WHERE o.schema_id = SCHEMA_ID(N'${schema}');`,
  );
  for (const { word, types } of kinds) {
    for (const [name, type] of rows) {
      if (!types.includes(String(type))) continue;
      await connection.must(`DROP ${word} ${schema}.${quoted(String(name))};`);
    }
  }
  const made = await connection.must(
    `SELECT t.name AS Name FROM sys.types AS t WHERE t.schema_id = SCHEMA_ID(N'${schema}') AND t.is_table_type = 1;`,
  );
  for (const [name] of made.rows) {
    await connection.must(`DROP TYPE ${schema}.${quoted(String(name))};`);
  }
}

/** A name as T-SQL takes it, with any characters. */
export function quoted(name: string): string {
  return `[${name.replaceAll("]", "]]")}]`;
}
