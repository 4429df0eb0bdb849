import type { DefinitionRow, Model } from "./state";

interface Change {
  setting: string;
  oldValue: string | null;
  newValue: string | null;
  source: "code" | "operator";
  changedBy: string;
  reason?: string | null;
}

/** Writes down who changed what. */
export function audit(model: Model, definition: DefinitionRow, change: Change): void {
  model.state.settingAudit.push({
    reason: null,
    ...change,
    definitionId: definition.definitionId,
    changedAtMs: model.nowMs,
  });
}

/** The same of what belongs to no definition. */
export function auditShared(model: Model, change: Change): void {
  model.state.settingAudit.push({
    reason: null,
    ...change,
    definitionId: 0,
    changedAtMs: model.nowMs,
  });
}
