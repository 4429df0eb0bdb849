import type { AuditAction } from "../../core/audit-actions";
import type { TaskId } from "../../core/ids";
import { checkInstant, checkInt } from "./checks";
import { json } from "./columns";
import { operationsOf } from "./operation";

/* ---- Audit: who changed what, when and why ---- */

/** Calls about the audit. */
export interface AuditOperations {
  /** Entries, newest first: settings of code and operators, and operators' calls about tasks and batches. */
  listAudit(input: ListAuditInput): Promise<{ entries: AuditEntry[] }>;
}

export interface ListAuditInput {
  /** A definition, group, shared limit, schedule, watermark, `batch ID`, or the id of a task. */
  object?: string;
  action?: AuditAction;
  /** Name of the actor. */
  changedBy?: string;
  /** Entries of this instant and later ones. */
  since?: Date;
  /** Entries earlier than this instant. */
  before?: Date;
  /** 1..100 */
  max: number;
}

/** One change. A call that changes several settings leaves an entry for each. */
export interface AuditEntry {
  at: string;
  action: AuditAction;
  /** null: the operation changes no setting. */
  setting: string | null;
  /** null: several, or none. */
  definition: string | null;
  /** Name of a group, shared limit, schedule or watermark, or `batch ID`; null: the definition or its tasks. */
  object: string | null;
  /** Tasks that the call changed, the first 1,000 of them. */
  tasks: TaskId[] | null;
  taskCount: number | null;
  /** Values of a setting; null: none. */
  old: string | null;
  new: string | null;
  source: "code" | "operator";
  actor: string;
  reason: string | null;
}

const operation = operationsOf<AuditOperations>();

/** Procedure `list_audit`. */
export const listAudit = operation("listAudit", {
  right: "worker",
  parameters: {
    object: "text",
    action: "text",
    changedBy: "text",
    since: "instant",
    before: "instant",
    max: "int",
  },
  check: (input) => {
    checkInt("max", input.max);
    checkInstant("since", input.since ?? null);
    checkInstant("before", input.before ?? null);
    return input;
  },
  decode: (row) => ({ entries: json<AuditEntry[]>(row, "entries") }),
});
