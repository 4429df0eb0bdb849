/** What names Taskgate's schema may have on PostgreSQL, for messages; the length, 1..63, is told apart. */
export const schemaNameRule =
  "lower case letters, digits and _, a letter first, as the name of a schema of its own (not public, information_schema or pg_..)";

/**
 * May Taskgate's schema have this name? Words that SQL reserves may be: the name is quoted where it has to be. Names of
 * schemas that hold other things may not: `migrate` drops functions that it doesn't know.
 */
export function isSchemaName(name: string): boolean {
  return /^(?!pg_|public$|information_schema$)[a-z][a-z0-9_]{0,62}$/.test(name);
}
