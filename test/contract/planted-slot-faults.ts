import { rules } from "./planted-fault";
import type { PlantedFault } from "./planted-fault";

/** `pair` uses two slots, and has one now. */
const lowered = "UPDATE taskgate.task_group SET slots = 1 WHERE group_id = {pair}";

/** An entry of the settings' audit. */
function audited(definition: string, setting: string, newValue: string): string {
  return `INSERT INTO taskgate.setting_audit (task_definition_id, setting, new_value, source, changed_by, changed_at)
          VALUES (${definition}, '${setting}', '${newValue}', 'operator', 'an operator', {now})`;
}

/** More slots in use than there are: a limit that an operator lowers, with its entry in the audit, stops no task. */
export const slotFaults: readonly PlantedFault[] = [
  {
    title: "nothing of slots that an operator took away",
    sql: `${lowered}; ${audited("{four}", "own_group_slots", "1 of pair")}`,
    found: [],
  },
  {
    title: "nothing of slots that an operator took away when entries told no scope",
    sql: `${lowered}; ${audited("{four}", "group_slots", "1 of pair")}`,
    found: [],
  },
  {
    title:
      "slots that nobody took away: other settings, scopes, definitions, groups and numbers don't tell",
    sql: [
      lowered,
      audited("{four}", "own_group_strict", "1 of pair"),
      audited("{four}", "global_group_slots", "1 of pair"),
      audited("{one}", "own_group_slots", "1 of pair"),
      audited("{one}", "group_slots", "1 of pair"),
      audited("{four}", "own_group_slots", "1 of half"),
      audited("{four}", "own_group_slots", "2 of pair"),
      audited("{four}", "own_group_slots", "1 of PAIR"),
    ].join(";"),
    found: [[rules.slots, "{pair}", "2 of 1"]],
  },
  {
    title: "nothing of slots of a global group that an operator of any definition took away",
    sql: `UPDATE taskgate.task_group SET slots = 1, task_definition_id = 0 WHERE group_id = {pair};
          ${audited("{one}", "global_group_slots", "1 of pair")}`,
    found: [],
  },
  {
    title: "nothing of slots of a global group taken away when entries told no scope",
    sql: `UPDATE taskgate.task_group SET slots = 1, task_definition_id = 0 WHERE group_id = {pair};
          ${audited("{one}", "group_slots", "1 of pair")}`,
    found: [],
  },
  {
    title: "slots of a global group that nobody took away",
    sql: `UPDATE taskgate.task_group SET slots = 1, task_definition_id = 0 WHERE group_id = {pair};
          ${audited("{one}", "global_group_paused", "1 of pair")};
          ${audited("{four}", "own_group_slots", "1 of pair")}`,
    found: [[rules.slots, "{pair}", "2 of 1"]],
  },
  {
    title: "a scheduled task that keeps a slot of another group than its own",
    sql: "UPDATE taskgate.group_slot SET group_id = {half}, slot = 2 WHERE task_id = {retry}",
    found: [
      [rules.slotHeld, "{half}/2", "{retry}"],
      [rules.outside, "{retry}", "scheduled"],
      [rules.freeSlot, "{strict}", "0 of 1 slots used"],
    ],
  },
];
