import type { AuditEntry } from "../ports/task-store";

/** Entries of the audit as people read them. */

/** Settings whose value is a limit; the database writes -1 for none. */
const limitSettings: readonly (string | null)[] = [
  "limit",
  "limit_override",
  "shared_limit",
  "shared_limit_override",
];

/** The text in place of no limit. */
const noLimit = "no limit";

/** The entry with `no limit` where the database has -1. */
export function readableEntry(entry: AuditEntry): AuditEntry {
  if (!limitSettings.includes(entry.setting)) return entry;
  const write = (value: string | null): string | null => (value === "-1" ? noLimit : value);
  return { ...entry, old: write(entry.old), new: write(entry.new) };
}

/** The text in place of no value: an operator's setting that is taken away leaves the code's. */
export function absentValue(setting: string): string {
  return setting.endsWith("_override") ? "as in code" : "none";
}
