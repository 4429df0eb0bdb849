/*
 * A payload's version stands in the kind's name as the database keeps it: `greet` is version 1, `greet@2` version 2. So a build
 * that doesn't know the version doesn't know the kind, and puts the task back for a newer build.
 */

/** The kind as the database keeps it. */
export function storedKind(name: string, version: number): string {
  return version === 1 ? name : `${name}@${String(version)}`;
}

/** Is it a kind of that name, of any version? */
export function isKindNamed(stored: string, name: string): boolean {
  return stored === name || (stored.startsWith(`${name}@`) && /@[1-9]\d*$/.test(stored));
}
