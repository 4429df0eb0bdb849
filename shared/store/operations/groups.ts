import { checkKey } from "../../core/text";
import { checkInt } from "./checks";
import { bool, int, intOrNull, json, names, status } from "./columns";
import { operationsOf } from "./operation";
import { cleanOperator } from "./operator";
import type { OperatorInput } from "./operator";
import type { AnswerRow } from "./operation";

/* ---- Groups: tasks with one key share its slots and run in order ---- */

/** An operator's calls about groups. */
export interface GroupOperations {
  /** An operator's settings of a group, which is made if it is missing; acts at once. Idempotent by value. */
  setGroup(input: SetGroupInput): Promise<SetGroupAnswer>;
  /** Groups with their slots and counts: first those with waiting tasks, both by definition as registered, then key, global ones first. */
  listGroups(input: ListGroupsInput): Promise<{ groups: GroupStatus[] }>;
}

export interface SetGroupInput extends OperatorInput {
  /** 1..200 characters */
  groupKey: string;
  groupScope: "definition" | "global";
  /** 1..1000; left out: as it is, in a new group as the definition has it. */
  slots?: number;
  paused?: boolean;
  strict?: boolean;
  /** Only if the group is there and these are its settings, else the answer is a conflict; left out: any. */
  expected?: GroupSettings;
}

export interface SetGroupAnswer {
  /** conflict: the settings aren't the expected ones, or there is no such group; nothing was written. */
  status: "created" | "set" | "exists" | "conflict";
  /** null in a new group, or where there is none. */
  old: GroupSettings | null;
  new: GroupSettings;
  /** Slots in use: maybe more than the new ones; no running task is stopped. */
  used: number;
  /** Counted up to 1,000. */
  waiting: number;
  /** Definitions that got ready tasks. */
  woken: string[];
}

export interface GroupSettings {
  slots: number;
  paused: boolean;
  strict: boolean;
}

export interface ListGroupsInput {
  /** Left out: all definitions' and the global ones. */
  name?: string;
  groupKey?: string;
  /** 1..1000 */
  max: number;
}

export interface GroupStatus extends GroupSettings {
  /** null: global. */
  definition: string | null;
  key: string;
  used: number;
  /** Counted up to 1,000. */
  waiting: number;
}

const operation = operationsOf<GroupOperations>();

/** Procedure `set_group`. */
export const setGroup = operation("setGroup", {
  right: "operator",
  parameters: {
    name: "text",
    groupKey: "text",
    groupScope: "text",
    slots: "int",
    paused: "boolean",
    strict: "boolean",
    changedBy: "text",
    reason: "text",
    expectedSlots: "int",
    expectedPaused: "boolean",
    expectedStrict: "boolean",
  },
  check: (input) => {
    checkKey("group_key", input.groupKey);
    if (input.slots !== undefined) checkInt("slots", input.slots);
    return cleanOperator(input);
  },
  bind: ({ expected }) => ({
    expectedSlots: expected?.slots ?? null,
    expectedPaused: expected?.paused ?? null,
    expectedStrict: expected?.strict ?? null,
  }),
  decode: (row) => ({
    status: status(row, ["created", "set", "exists", "conflict"]),
    old: intOrNull(row, "oldSlots") === null ? null : settingsOf(row, "old"),
    new: settingsOf(row, "new"),
    used: int(row, "used"),
    waiting: int(row, "waiting"),
    woken: names(row, "woken"),
  }),
});

/** Procedure `list_groups`. */
export const listGroups = operation("listGroups", {
  right: "worker",
  parameters: { name: "text", groupKey: "text", max: "int" },
  decode: (row) => ({ groups: json<GroupStatus[]>(row, "groups") }),
});

function settingsOf(row: AnswerRow, age: "old" | "new"): GroupSettings {
  return {
    slots: int(row, `${age}Slots`),
    paused: bool(row, `${age}Paused`),
    strict: bool(row, `${age}Strict`),
  };
}
