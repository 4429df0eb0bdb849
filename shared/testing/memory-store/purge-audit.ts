import type { CallAuditRow, Memory, SettingAuditRow } from "./state";

/** Older entries go, unless they are the last of theirs. */
const keptMs = 400 * 86_400_000;
/** Of enqueues: an entry for each call. */
const enqueuesKeptMs = 30 * 86_400_000;
/** Entries that one call looks at, oldest first. */
const entriesMax = 1_000;

/** Old entries of the audit that were followed by another one of the same among those that one call looks at. */
export function outdatedEntries({ state, nowMs }: Memory): SettingAuditRow[] {
  const oldest = state.settingAudit.slice(0, entriesMax);
  const last = new Map(oldest.map((row) => [whatOf(row), row]));
  return oldest.filter((row) => row.changedAtMs < nowMs - keptMs && last.get(whatOf(row)) !== row);
}

/**
 * What an entry is about. Values are written as `value of name`, no value with ` of ` in it; those of
 * a definition's own settings name nothing.
 */
function whatOf({ definitionId, setting, oldValue, newValue }: SettingAuditRow): string {
  const [, ...words] = (newValue ?? oldValue ?? "").split(" of ");
  // Of own settings only this one's value is made of names, which may have any words.
  const name = setting === "shared_limits" ? [] : words;
  return JSON.stringify([definitionId, setting, name.join(" of ")]);
}

/** Old entries of calls, oldest first: of enqueues, or of the others. */
export function outdatedCalls({ state, nowMs }: Memory, areEnqueues: boolean): CallAuditRow[] {
  const before = nowMs - (areEnqueues ? enqueuesKeptMs : keptMs);
  return state.callAudit.filter((row) => row.isEnqueue === areEnqueues && row.changedAtMs < before);
}
