import type { Token } from "../../core/token";
import type { InvariantFinding, Limit } from "../../ports/task-store";
import type { Implementation } from "./implementation";
import { left } from "./arguments";
import { sharedLimitOf } from "./shared-tokens";
import { unfinishedIn } from "./waves";
import { allStandings } from "./places";
import { dedupeId } from "./dedupe-keys";
import { comparePlaces, definitionOf, limitOf } from "./rows";
import type { GroupRow, MemoryState, TaskRow } from "./state";
import { readableTokens, readTokens } from "./token-pool";
import type { TokenRow } from "./token-pool";

/** A finding without its rule. */
type Finding = Omit<InvariantFinding, "rule">;

/**
 * check_invariants: every invariant that the state can show, at most 100 findings per rule.
 */
export const checkInvariants: Implementation<"checkInvariants"> = ({ state }) => {
  const findings = Object.entries(rules).flatMap(([rule, find]) =>
    find(state)
      .slice(0, 100)
      .map((finding) => ({ rule, ...finding })),
  );
  return { status: findings.length === 0 ? "sound" : "broken", findings };
};

/** The rules by the names that the SQL gives them. */
const rules: Readonly<Record<string, (state: MemoryState) => Finding[]>> = {
  "each unfinished task stands in exactly one place": strayTasks,
  "a place holds only tasks that exist": (state) =>
    allStandings(state)
      .filter(({ taskId }) => !state.tasks.has(taskId))
      .map(({ taskId, place }) => ({ key: taskId, detail: place })),
  "a task stands under its own definition": (state) =>
    allStandings(state)
      .filter(({ taskId, definitionId }) => {
        const task = state.tasks.get(taskId);
        return task !== undefined && task.definitionId !== definitionId;
      })
      .map(({ taskId, place }) => ({ key: taskId, detail: place })),
  "a task belongs to a definition": (state) =>
    [...state.tasks.values()]
      .filter((task) => !state.definitions.has(task.definitionId))
      .map((task) => ({ key: task.taskId, detail: String(task.definitionId) })),
  "a finished task is not unfinished, too": (state) =>
    [...state.archive.keys()]
      .filter((taskId) => state.tasks.has(taskId))
      .map((taskId) => ({ key: taskId, detail: "archive and task" })),
  "ready tasks carry their task's order": misplacedReady,
  "only a live or not yet reclaimed execution holds claims": (state) =>
    [...state.executions.values()]
      .filter((row) => row.state === "ended" || row.state === "reclaimed")
      .flatMap((row) =>
        row.claims.map(() => ({ key: row.executionId, detail: `state ${row.state}` })),
      ),
  // One object here.
  "claims and their fences are of one length": () => [],
  // A flag of the claim here.
  "prefetched claims are claims": () => [],
  "the token string can be read": (state) => damaged(ownPools(state)),
  "a held token has a grantee": (state) => ungranted(ownPools(state)),
  "tokens held equal tokens counted": miscountedTokens,
  "without a limit there is no token string": (state) => needless(ownPools(state)),
  "free tokens do not exceed the limit": (state) => overfull(ownPools(state)),
  "the token string of a shared limit can be read": (state) => damaged(sharedPools(state)),
  "a held token of a shared limit has a grantee": (state) => ungranted(sharedPools(state)),
  "tokens held of a shared limit equal tokens counted": miscountedShared,
  "without a limit a shared limit has no token string": (state) => needless(sharedPools(state)),
  "free tokens do not exceed a shared limit": (state) =>
    overfull(sharedPools(state).filter(({ limit }) => limit !== null)),
  "a group fills at most its slots": overfullGroups,
  "a grouped task in ready or claimed holds one slot": slotlessTasks,
  "a slot is held by a task of the group that may run": idleSlots,
  "no task waits for a group that has a free slot": neglectedGroups,
  "a task names its group while it holds a slot or waits for one": outsiders,
  "a group that a row names exists": lostGroups,
  "a key without a window belongs to an unfinished task": (state) =>
    [...state.dedupe.values()]
      .filter((row) => row.expiresAtMs === null && !state.tasks.has(row.taskId))
      .map((row) => ({ key: dedupeId(row.definitionId, row.dedupeKey), detail: row.taskId })),
  "a schedule belongs to a definition": (state) =>
    [...state.schedules.values()]
      .filter((row) => !state.definitions.has(row.definitionId))
      .map((row) => ({ key: String(row.scheduleId), detail: String(row.definitionId) })),
  // A field of the schedule here.
  "a group of a schedule has its schedule": () => [],
  // Counters of the store's own, which nothing sets back.
  "a counter stands above the numbers that it has given": () => [],
  "a wave belongs to a batch": (state) =>
    [...state.waves.values()]
      .filter((wave) => !state.batches.has(wave.batchId))
      .map((wave) => ({ key: wave.waveId, detail: wave.batchId })),
  // Counted from the tasks here.
  "a wave counts its unfinished tasks": () => [],
  "a wave counts its open shards": () => [],
  "a wave is open while it has unfinished tasks": (state) =>
    [...state.waves.values()].flatMap((wave) => {
      const unfinished = unfinishedIn(state, wave);
      const isWrong =
        wave.state === "open" ? unfinished === 0 : wave.state !== "opening" && unfinished > 0;
      return isWrong
        ? [{ key: wave.waveId, detail: `${wave.state}, ${String(unfinished)} unfinished` }]
        : [];
    }),
  "only waves that are blocked or being opened hold tasks": (state) =>
    state.waveBlocked.flatMap((row) => {
      const wave = state.waves.get(row.waveId);
      const isRight = wave?.state === "blocked" || wave?.state === "opening";
      return isRight ? [] : [{ key: row.waveId, detail: `state ${wave?.state ?? "none"}` }];
    }),
  "waves open one after the other": (state) =>
    [...state.batches.keys()].flatMap((batchId) => {
      const open = [...state.waves.values()].filter(
        (wave) => wave.batchId === batchId && (wave.state === "opening" || wave.state === "open"),
      );
      return open.length > 1 ? [{ key: batchId, detail: `${String(open.length)} open` }] : [];
    }),
};

function strayTasks(state: MemoryState): Finding[] {
  const places = new Map<string, string[]>([...state.tasks.keys()].map((taskId) => [taskId, []]));
  for (const { taskId, place } of allStandings(state)) places.get(taskId)?.push(place);
  return [...places]
    .filter(([, names]) => names.length !== 1)
    .map(([key, names]) => ({ key, detail: names.sort().join(" and ") || "nowhere" }));
}

function misplacedReady(state: MemoryState): Finding[] {
  return state.ready.flatMap((row) => {
    const task = state.tasks.get(row.taskId);
    if (task === undefined || comparePlaces(row, task) === 0) return [];
    const detail =
      `${String(row.priority)}/${row.rank} in ready, ` +
      `${String(task.priority)}/${task.rank} in task`;
    return [{ key: row.taskId, detail }];
  });
}

/** A token string and the limit that it obeys. */
interface Pool {
  readonly row: TokenRow;
  readonly limit: Limit;
}

function ownPools(state: MemoryState): Pool[] {
  return [...state.definitions.values()].map((row) => ({ row, limit: limitOf(row) }));
}

function sharedPools(state: MemoryState): Pool[] {
  return [...state.sharedLimits.values()].map((row) => ({ row, limit: sharedLimitOf(row) }));
}

function damaged(pools: readonly Pool[]): Finding[] {
  return pools.filter(({ row }) => readTokens(row) === null).map(asText);
}

function needless(pools: readonly Pool[]): Finding[] {
  return pools.filter(({ row, limit }) => limit === null && row.executionTokens !== "").map(asText);
}

function asText({ row }: Pool): Finding {
  return { key: row.name, detail: left(row.executionTokens, 100) };
}

function heldOf(row: TokenRow): Token[] {
  return readableTokens(row).filter((token) => token.isHeld);
}

function ungranted(pools: readonly Pool[]): Finding[] {
  return pools.flatMap(({ row }) =>
    heldOf(row)
      .filter(({ grantee }) => grantee === "0")
      .map(() => ({ key: row.name, detail: "G:0" })),
  );
}

function overfull(pools: readonly Pool[]): Finding[] {
  return pools.flatMap(({ row, limit }) => {
    const count = readableTokens(row).length;
    if (count <= Math.max(limit ?? -1, heldOf(row).length)) return [];
    const detail = `${String(count)} tokens, limit ${String(limit ?? -1)}`;
    return [{ key: row.name, detail }];
  });
}

function miscountedShared(state: MemoryState): Finding[] {
  return [...state.sharedLimits.values()].flatMap((row) => {
    const grantees = heldOf(row).map((token) => token.grantee);
    return [...state.executions.values()].flatMap((execution) => {
      if (sharedLimitOf(row) === null || execution.state !== "live") return [];
      const isLinked = state.definitions
        .get(execution.definitionId)
        ?.sharedLimitIds.includes(row.sharedLimitId);
      const counted = isLinked === true ? execution.tokenCount : 0;
      const held = grantees.filter((grantee) => grantee === execution.executionId).length;
      if (held === counted) return [];
      const detail = `${String(held)} in the string, ${String(counted)} counted`;
      return [{ key: `${row.name}/${execution.executionId}`, detail }];
    });
  });
}

/** Live executions only: what the dead held stays in the string until the next asker comes. */
function miscountedTokens(state: MemoryState): Finding[] {
  const grantees = [...state.definitions.values()].flatMap(heldOf).map((token) => token.grantee);
  return [...state.executions.values()].flatMap((row) => {
    const held = grantees.filter((grantee) => grantee === row.executionId).length;
    const isCounted = limitOf(definitionOf(state, row)) !== null;
    const counted = isCounted ? row.tokenCount : 0;
    if (row.state !== "live" || held === counted) return [];
    const detail = `${String(held)} in the string, ${String(counted)} counted`;
    return [{ key: row.executionId, detail }];
  });
}

function slotsOf(state: MemoryState, groupId: number): number[] {
  return state.groupSlots.filter((row) => row.groupId === groupId).map((row) => row.slot);
}

function overfullGroups(state: MemoryState): Finding[] {
  return [...state.groups.values()].flatMap((group) => {
    const used = slotsOf(state, group.groupId);
    if (used.length <= group.slots || isLowered(state, group)) return [];
    const detail = `${String(used.length)} of ${String(group.slots)}`;
    return [{ key: String(group.groupId), detail }];
  });
}

/** A limit that an operator lowers stops no running task. */
function isLowered(state: MemoryState, { scope, key, slots }: GroupRow): boolean {
  const setting = scope === 0 ? "global_group_slots" : "own_group_slots";
  return state.settingAudit.some(
    (row) =>
      row.setting === setting &&
      (scope === 0 || row.definitionId === scope) &&
      row.newValue === `${String(slots)} of ${key}`,
  );
}

function slotlessTasks(state: MemoryState): Finding[] {
  return allStandings(state).flatMap(({ taskId, place }) => {
    const task = state.tasks.get(taskId);
    if (task === undefined || task.groupId === null) return [];
    if (place !== "ready" && place !== "claimed") return [];
    const slots = countSlots(state, task);
    return slots === 1 ? [] : [{ key: taskId, detail: `${place}, ${String(slots)} slots` }];
  });
}

function countSlots(state: MemoryState, task: TaskRow): number {
  return state.groupSlots.filter(
    (row) => row.groupId === task.groupId && row.taskId === task.taskId,
  ).length;
}

function idleSlots(state: MemoryState): Finding[] {
  const mayRun = new Set(
    allStandings(state)
      .filter(({ place }) => place !== "group_waiting")
      .map(({ taskId }) => taskId),
  );
  return state.groupSlots
    .filter(({ groupId, taskId }) => {
      const task = state.tasks.get(taskId);
      return task?.groupId !== groupId || !mayRun.has(taskId);
    })
    .map((row) => ({ key: `${String(row.groupId)}/${String(row.slot)}`, detail: row.taskId }));
}

function outsiders(state: MemoryState): Finding[] {
  return allStandings(state).flatMap(({ taskId, place }) => {
    const task = state.tasks.get(taskId);
    if (task === undefined || task.groupId === null) return [];
    const isOutside =
      (place === "scheduled" || place === "wave_blocked") && countSlots(state, task) === 0;
    const detail = task.pendingGroup?.key ?? place;
    return isOutside || task.pendingGroup !== null ? [{ key: taskId, detail }] : [];
  });
}

function lostGroups(state: MemoryState): Finding[] {
  const needs = [
    ...[...state.tasks.values()].map(({ groupId }) => ({ groupId, detail: "task" })),
    ...state.groupSlots.map(({ groupId }) => ({ groupId, detail: "slot" })),
    ...state.groupWaiting.map(({ groupId }) => ({ groupId, detail: "waiting" })),
    ...[...state.archive.values()].map(({ task }) => ({
      groupId: task.groupId,
      detail: "archive",
    })),
  ];
  return needs.flatMap(({ groupId, detail }) =>
    groupId === null || state.groups.has(groupId) ? [] : [{ key: String(groupId), detail }],
  );
}

function neglectedGroups(state: MemoryState): Finding[] {
  return [...state.groups.values()].flatMap((group) => {
    const used = slotsOf(state, group.groupId).length;
    const waits = state.groupWaiting.some((row) => row.groupId === group.groupId);
    if (group.isPaused || !waits || used >= group.slots) return [];
    const detail = `${String(used)} of ${String(group.slots)} slots used`;
    return [{ key: String(group.groupId), detail }];
  });
}
