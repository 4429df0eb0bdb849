import type { AuditAction } from "../../core/audit-actions";
import type { AuditEntry, ListAuditInput } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange } from "./arguments";
import { iso } from "./instants";
import type { CallAuditRow, SettingAuditRow } from "./state";

/** Tasks that an entry names. */
const tasksNamedMax = 1_000;
/** Settings whose values are written as `value of name`. */
const namedSettings = /^(shared_limit|shared_limit_override|schedule|schedule_paused|watermark)$/;
const groupSettings = /^(own|global)_group_/;

/** An entry with what decides its place among others. */
interface Placed {
  readonly entry: AuditEntry;
  readonly atMs: number;
  readonly isCall: boolean;
  readonly id: number;
}

/** list_audit: newest first. */
export const listAudit: Implementation<"listAudit"> = (memory, input) => {
  expectRange("max", input.max, [1, 100]);
  const { state } = memory;
  const names = new Map([...state.definitions.values()].map((row) => [row.definitionId, row.name]));
  const placed: Placed[] = [
    ...state.settingAudit.map((row, id) => ({
      entry: ofSetting(row, names.get(row.definitionId) ?? null),
      atMs: row.changedAtMs,
      isCall: false,
      id,
    })),
    ...state.callAudit.map((row) => ({
      entry: ofCall(row, names.get(row.definitionId) ?? null),
      atMs: row.changedAtMs,
      isCall: true,
      id: row.callAuditId,
    })),
  ];
  return {
    entries: placed
      .filter(({ entry, atMs }) => isAskedFor(entry, atMs, input))
      .sort((a, b) => b.atMs - a.atMs || Number(b.isCall) - Number(a.isCall) || b.id - a.id)
      .slice(0, input.max)
      .map(({ entry }) => entry),
  };
};

function isAskedFor(entry: AuditEntry, atMs: number, input: ListAuditInput): boolean {
  const { object, action, changedBy, since, before } = input;
  const names: (string | null)[] = [entry.definition, entry.object, ...(entry.tasks ?? [])];
  return (
    (object === undefined || names.includes(object)) &&
    (action === undefined || entry.action === action) &&
    (changedBy === undefined || entry.actor === changedBy) &&
    (since === undefined || atMs >= since.getTime()) &&
    (before === undefined || atMs < before.getTime())
  );
}

function ofSetting(row: SettingAuditRow, definition: string | null): AuditEntry {
  const { setting, oldValue, newValue, source, changedBy: actor, reason } = row;
  const isNamed = namedSettings.test(setting) || groupSettings.test(setting);
  const part = (value: string | null, at: 0 | 1): string | null => {
    if (value === null || !isNamed) return at === 0 ? value : null;
    const [first = "", ...rest] = value.split(" of ");
    return at === 0 ? first : rest.join(" of ");
  };
  return {
    at: iso(row.changedAtMs),
    action: actionOf(row),
    setting,
    definition,
    object: part(newValue ?? oldValue, 1),
    tasks: null,
    taskCount: null,
    old: part(oldValue, 0),
    new: part(newValue, 0),
    source,
    actor,
    reason,
  };
}

const operatorActions: Readonly<Record<string, AuditAction>> = {
  limit_override: "set_limit",
  rate_override: "set_rate",
  shared_limit_override: "set_shared_limit",
  schedule_paused: "set_schedule_paused",
  watermark: "set_watermark",
  owner: "set_definition_owner",
  stop: "set_stop",
};

function actionOf({ setting, source, newValue }: SettingAuditRow): AuditAction {
  if (setting === "schedule") return "set_schedules";
  if (source === "code") return "register_definition";
  if (setting === "paused") return newValue === "true" ? "pause_definition" : "resume_definition";
  return operatorActions[setting] ?? "set_group";
}

function ofCall(row: CallAuditRow, definition: string | null): AuditEntry {
  const { taskIds, batchId } = row;
  return {
    at: iso(row.changedAtMs),
    action: row.action,
    setting: null,
    definition,
    object: batchId === null ? null : `batch ${batchId}`,
    tasks: taskIds.length === 0 ? null : taskIds.slice(0, tasksNamedMax),
    taskCount: batchId === null ? taskIds.length : null,
    old: null,
    new: null,
    source: "operator",
    actor: row.changedBy,
    reason: row.reason,
  };
}
