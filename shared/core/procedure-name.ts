/** Names that need no escape in either dialect: nothing else ever becomes part of a statement. */
const namePattern = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/;

/** What `isSqlName` asks for, in words. */
export const sqlNameRule = "a name of letters, digits and _, at most 63 long";

/** May this stand in a statement as the name of a parameter or an object? */
export function isSqlName(text: string): boolean {
  return namePattern.test(text);
}

/** Is this `schema.name`? */
export function isProcedureName(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 2 && parts.every(isSqlName);
}

/** The names of a list joined by commas, blanks around them left out. */
export function listOfProcedures(text: string): string[] {
  return text === "" ? [] : text.split(",").map((name) => name.trim());
}
