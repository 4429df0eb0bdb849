/**
 * A name as one word of a command that a person copies into a shell. Names may hold blanks, quotes and all else that a shell
 * reads in its own way.
 */
export function commandWord(name: string): string {
  if (/^[\p{L}\p{N}_./][\p{L}\p{M}\p{N}_.:@%+=/-]*$/u.test(name)) return name;
  // What bash, PowerShell and cmd read alike; the rest as a POSIX shell wants it.
  if (!/["$`\\!%]/.test(name)) return `"${name}"`;
  return `'${name.replaceAll("'", "'\\''")}'`;
}
