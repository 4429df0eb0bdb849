import { compareTexts } from "../../core/text";
import type { GroupSettings, SetGroupInput } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { expectRange, expectWord } from "./arguments";
import { audit, byOperator } from "./audit";
import { fillSlots, findGroup, makeGroup } from "./groups";
import { definitionNamed, definitionNames } from "./rows";
import type { DefinitionRow, GroupRow, Memory } from "./state";

/** Waiting tasks are counted up to so many. */
const waitingCountMax = 1_000;

/** set_group: an operator's settings of a group, which is made if it is missing; acts at once. */
export const setGroup: Implementation<"setGroup"> = (memory, input) => {
  expectWord("group_scope", input.groupScope, ["definition", "global"]);
  if (input.slots !== undefined) expectRange("slots", input.slots, [1, 1_000]);
  const definition = definitionNamed(memory.state, input.name);
  const name = { key: input.groupKey, isGlobal: input.groupScope === "global" };
  const known = findGroup(memory.state, definition, name);
  if (!isExpected(input, known)) {
    const { groupSlots: slots, groupStrict: strict } = definition.settings;
    const old = known === undefined ? null : settingsOf(known);
    const counts = { used: 0, waiting: 0, woken: [] };
    return { status: "conflict", old, new: old ?? { slots, paused: false, strict }, ...counts };
  }
  const group = known ?? makeGroup(memory, definition, name);
  const old = known === undefined ? null : settingsOf(known);
  group.isKept = true;
  group.slots = input.slots ?? group.slots;
  group.isPaused = input.paused ?? group.isPaused;
  group.strict = input.strict ?? group.strict;
  const changed = settingsOf(group);
  const isChanged = auditChange(memory, definition, { input, old, changed });
  const woken = old !== null && isChanged ? fillSlots(memory.state, group) : [];
  return {
    status: old === null ? "created" : isChanged ? "set" : "exists",
    old,
    new: changed,
    ...countsOf(memory, group),
    woken: definitionNames(memory.state, woken),
  };
};

function isExpected({ expected }: SetGroupInput, known: GroupRow | undefined): boolean {
  if (expected === undefined) return true;
  if (known === undefined) return false;
  const { slots, paused, strict } = settingsOf(known);
  return slots === expected.slots && paused === expected.paused && strict === expected.strict;
}

function settingsOf(group: GroupRow): GroupSettings {
  return { slots: group.slots, paused: group.isPaused, strict: group.strict };
}

/** Writes down what changed; was there anything? */
function auditChange(
  memory: Memory,
  definition: DefinitionRow,
  {
    input,
    old,
    changed,
  }: { input: SetGroupInput; old: GroupSettings | null; changed: GroupSettings },
): boolean {
  const settings = ["slots", "paused", "strict"] as const;
  const different = settings.filter((setting) => old?.[setting] !== changed[setting]);
  for (const setting of different) {
    audit(memory, definition, {
      setting: `${input.groupScope === "global" ? "global" : "own"}_group_${setting}`,
      oldValue: old === null ? null : `${String(old[setting])} of ${input.groupKey}`,
      newValue: `${String(changed[setting])} of ${input.groupKey}`,
      ...byOperator(input),
    });
  }
  return different.length > 0;
}

function countsOf(memory: Memory, { groupId }: GroupRow): { used: number; waiting: number } {
  const waiting = memory.state.groupWaiting.filter((row) => row.groupId === groupId).length;
  return {
    used: memory.state.groupSlots.filter((row) => row.groupId === groupId).length,
    waiting: Math.min(waiting, waitingCountMax),
  };
}

/** Groups with waiters that are looked for first, so that reading costs the same for any number of them. */
const firstMax = 1_000;

/** list_groups: first the oldest ones with waiters, both by definition as registered, then key, global ones first. */
export const listGroups: Implementation<"listGroups"> = (memory, input) => {
  expectRange("max", input.max, [1, 1_000]);
  const only = input.name === undefined ? null : definitionNamed(memory.state, input.name);
  const isOfOnly = (groupId: number): boolean =>
    only === null || memory.state.groups.get(groupId)?.scope === only.definitionId;
  const waiting = new Set(memory.state.groupWaiting.map((row) => row.groupId).filter(isOfOnly));
  const first = new Set([...waiting].sort((a, b) => a - b).slice(0, firstMax));
  const groups = [...memory.state.groups.values()]
    .filter((group) => only === null || group.scope === only.definitionId)
    .filter((group) => input.groupKey === undefined || group.key === input.groupKey)
    .sort(
      (a, b) =>
        Number(first.has(b.groupId)) - Number(first.has(a.groupId)) ||
        a.scope - b.scope ||
        compareTexts(a.key, b.key),
    )
    .slice(0, input.max)
    .map((group) => ({
      definition: memory.state.definitions.get(group.scope)?.name ?? null,
      key: group.key,
      ...settingsOf(group),
      ...countsOf(memory, group),
    }));
  return { groups };
};
