import { checkKey } from "../../core/text";
import { checkInt } from "./checks";
import { bool, int, json, names, status } from "./columns";
import { operationsOf } from "./operation";
import { cleanOperator } from "./operator";
import type { AnswerRow } from "./operation";

/* ---- Groups: tasks with one key share its slots and run in order ---- */

/** An operator's calls about groups. */
export interface GroupOperations {
  /** An operator's settings of a group, which is made if it is missing; acts at once. Idempotent by value. */
  setGroup(input: SetGroupInput): Promise<SetGroupAnswer>;
  /** Groups with their slots and counts: first those with waiting tasks, both by definition and key, global ones first. */
  listGroups(input: ListGroupsInput): Promise<{ groups: GroupStatus[] }>;
}

export interface SetGroupInput {
  /** The definition. */
  name: string;
  changedBy: string;
  reason?: string;
  /** 1..200 characters */
  groupKey: string;
  groupScope: "definition" | "global";
  /** 1..1000; left out: as it is, in a new group as the definition has it. */
  slots?: number;
  paused?: boolean;
  strict?: boolean;
}

export interface SetGroupAnswer {
  status: "created" | "set" | "exists";
  /** null in a new group. */
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
  parameters: {
    name: "text",
    groupKey: "text",
    groupScope: "text",
    slots: "int",
    paused: "boolean",
    strict: "boolean",
    changedBy: "text",
    reason: "text",
  },
  check: (input) => {
    checkKey("group_key", input.groupKey);
    if (input.slots !== undefined) checkInt("slots", input.slots);
    return cleanOperator(input);
  },
  decode: (row) => {
    const answer = status(row, ["created", "set", "exists"]);
    return {
      status: answer,
      old: answer === "created" ? null : settingsOf(row, "old"),
      new: settingsOf(row, "new"),
      used: int(row, "used"),
      waiting: int(row, "waiting"),
      woken: names(row, "woken"),
    };
  },
});

/** Procedure `list_groups`. */
export const listGroups = operation("listGroups", {
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
