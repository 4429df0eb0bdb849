import { rules } from "./planted-fault";
import type { PlantedFault } from "./planted-fault";
import { sharedFaults } from "./planted-shared-faults";
import { slotFaults } from "./planted-slot-faults";
import { tokenFaults } from "./planted-token-faults";

const places: readonly PlantedFault[] = [
  {
    title: "a task that stands nowhere",
    sql: "DELETE FROM taskgate.ready WHERE task_id = {ready}",
    found: [[rules.onePlace, "{ready}", "nowhere"]],
  },
  {
    title: "a task that stands in two places",
    sql: "INSERT INTO taskgate.scheduled (task_definition_id, run_at, task_id) VALUES ({one}, {now}, {ready})",
    found: [[rules.onePlace, "{ready}", "ready and scheduled"]],
  },
  {
    title: "a claimed task that stands everywhere else, too",
    sql: `
      INSERT INTO taskgate.wave_blocked (wave_id, priority, rank, task_id, task_definition_id) VALUES (999, 1, 0, {claimed}, {one});
      INSERT INTO taskgate.scheduled (task_definition_id, run_at, task_id) VALUES ({one}, {now}, {claimed});
      INSERT INTO taskgate.ready (task_definition_id, priority, rank, task_id) VALUES ({one}, 100, 0, {claimed});
      INSERT INTO taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id) VALUES (999, 1, 0, {claimed}, {one});`,
    found: [
      [
        rules.onePlace,
        "{claimed}",
        "claimed and group_waiting and ready and scheduled and wave_blocked",
      ],
      [rules.lostGroup, "999", "waiting"],
      [rules.holds, "999", "state none"],
    ],
  },
  {
    title: "a task that stands twice in one place",
    sql: "INSERT INTO taskgate.ready (task_definition_id, priority, rank, task_id) VALUES ({one}, 6, 0, {ready})",
    found: [
      [rules.onePlace, "{ready}", "ready and ready"],
      [rules.order, "{ready}", "6/0 in ready, 5/0 in task"],
    ],
  },
  {
    title: "a task claimed by two",
    sql: {
      postgres: `
        update taskgate.task_execution set inflight = '{{claimed}}', inflight_fence = array[1], inflight_at = array[now()]
         where task_execution_id = {heir}`,
    },
    found: [
      [rules.onePlace, "{claimed}", "claimed and claimed"],
      [rules.own, "{claimed}", "claimed"],
    ],
  },
  {
    title: "a ready place whose task is gone",
    sql: "DELETE FROM taskgate.task WHERE task_id = {ready}",
    found: [[rules.exists, "{ready}", "ready"]],
  },
  {
    title: "a claim whose task is gone",
    sql: "DELETE FROM taskgate.task WHERE task_id = {claimed}",
    found: [[rules.exists, "{claimed}", "claimed"]],
  },
  {
    title: "places of tasks that never were",
    sql: `
      INSERT INTO taskgate.wave_blocked (wave_id, priority, rank, task_id, task_definition_id) VALUES ({early}, 1, 0, 901, {one});
      INSERT INTO taskgate.scheduled (task_definition_id, run_at, task_id) VALUES ({one}, {now}, 902);
      INSERT INTO taskgate.ready (task_definition_id, priority, rank, task_id) VALUES ({one}, 100, 0, 903);
      INSERT INTO taskgate.group_waiting (group_id, priority, rank, task_id, task_definition_id) VALUES ({pair}, 1, 0, 904, {one});`,
    found: [
      [rules.exists, "901", "wave_blocked"],
      [rules.exists, "902", "scheduled"],
      [rules.exists, "903", "ready"],
      [rules.exists, "904", "group_waiting"],
    ],
  },
  {
    title: "places under another definition",
    sql: `
      UPDATE taskgate.ready SET task_definition_id = {two} WHERE task_id = {ready};
      UPDATE taskgate.scheduled SET task_definition_id = {two} WHERE task_id = {scheduled};
      UPDATE taskgate.group_waiting SET task_definition_id = {two} WHERE task_id = {waiting};
      UPDATE taskgate.wave_blocked SET task_definition_id = {one} WHERE task_id = {held};
      UPDATE taskgate.task SET task_definition_id = {two} WHERE task_id = {claimed};`,
    found: [
      [rules.own, "{ready}", "ready"],
      [rules.own, "{scheduled}", "scheduled"],
      [rules.own, "{waiting}", "group_waiting"],
      [rules.own, "{held}", "wave_blocked"],
      [rules.own, "{claimed}", "claimed"],
    ],
  },
  {
    title: "a finished task that is unfinished, too",
    sql: {
      postgres: `
        insert into taskgate.task (task_id, task_definition_id, kind, priority, created_at)
        select task_id, task_definition_id, kind, priority, created_at from taskgate.archive`,
    },
    found: [
      [rules.onePlace, "{done}", "nowhere"],
      [rules.finished, "{done}", "archive and task"],
    ],
  },
  {
    title: "a finished task that is ready, too: its row is there for its payload alone",
    sql: {
      mssql: `
        INSERT INTO Taskgate.Ready (TaskDefinitionId, Priority, Rank, TaskId)
        SELECT a.TaskDefinitionId, a.Priority, a.Rank, a.TaskId FROM Taskgate.Archive AS a;`,
    },
    found: [[rules.finished, "{done}", "archive and task"]],
  },
  {
    title: "ready tasks out of their order",
    sql: `
      UPDATE taskgate.ready SET priority = 1 WHERE task_id = {ready};
      UPDATE taskgate.ready SET rank = 4 WHERE task_id = {keyed};`,
    found: [
      [rules.order, "{ready}", "1/0 in ready, 5/0 in task"],
      [rules.order, "{keyed}", "100/4 in ready, 100/0 in task"],
    ],
  },
];

const claims: readonly PlantedFault[] = [
  ...([2, 4] as const).map((state) => ({
    title: `a claim of an execution in state ${String(state)}; what it held isn't counted any more`,
    sql: `UPDATE taskgate.task_execution SET state = ${String(state)} WHERE task_execution_id = {worker}`,
    found: [[rules.claims, "{worker}", `state ${String(state)}`]] as const,
  })),
  {
    title: "nothing while the dead one's claims aren't taken back",
    sql: "UPDATE taskgate.task_execution SET state = 3 WHERE task_execution_id = {worker}",
    found: [],
  },
  {
    title: "a claim whose execution is gone",
    sql: {
      mssql: "DELETE FROM Taskgate.TaskExecution WHERE TaskExecutionId = {worker}",
    },
    found: [[rules.claims, "{worker}", "state missing"]],
  },
  {
    title: "claims without fences, or without instants",
    sql: {
      postgres: `
        update taskgate.task_execution set inflight_fence = '{1,2}' where task_execution_id = {worker};
        update taskgate.task_execution set inflight_at = '{}' where task_execution_id = {free}`,
    },
    found: [
      [rules.lengths, "{worker}", "1 and 2"],
      [rules.lengths, "{free}", "1 and 1"],
    ],
  },
  {
    title: "prefetched claims that are none",
    sql: {
      postgres:
        "update taskgate.task_execution set prefetched = '{{claimed},998,999}' where task_execution_id = {worker}",
    },
    found: [[rules.prefetched, "{worker}", "{claimed},998,999"]],
  },
];

const groups: readonly PlantedFault[] = [
  {
    title: "a group with more tasks than slots, and a slot of a task that waits",
    sql: "INSERT INTO taskgate.group_slot (group_id, slot, task_id) VALUES ({pair}, 3, {third})",
    found: [
      [rules.slots, "{pair}", "3 of 2"],
      [rules.slotHeld, "{pair}/3", "{third}"],
    ],
  },
  {
    title: "grouped tasks without a slot, ready and claimed; behind one of them somebody waits",
    sql: "DELETE FROM taskgate.group_slot WHERE task_id IN ({holder}, {slotted})",
    found: [
      [rules.oneSlot, "{holder}", "ready, 0 slots"],
      [rules.oneSlot, "{slotted}", "claimed, 0 slots"],
      [rules.freeSlot, "{group}", "0 of 1 slots used"],
    ],
  },
  {
    title: "a ready task with two slots",
    sql: "INSERT INTO taskgate.group_slot (group_id, slot, task_id) VALUES ({half}, 2, {half1})",
    found: [[rules.oneSlot, "{half1}", "ready, 2 slots"]],
  },
  {
    title: "a slot of another group",
    sql: "UPDATE taskgate.group_slot SET group_id = 999 WHERE task_id = {half1}",
    found: [
      [rules.oneSlot, "{half1}", "ready, 0 slots"],
      [rules.slotHeld, "999/1", "{half1}"],
      [rules.lostGroup, "999", "slot"],
    ],
  },
  {
    title: "a slot of a finished task",
    sql: "UPDATE taskgate.group_slot SET task_id = {done} WHERE task_id = {half1}",
    found: [
      [rules.oneSlot, "{half1}", "ready, 0 slots"],
      [rules.slotHeld, "{half}/1", "{done}"],
    ],
  },
  {
    title: "a slot of a task without a group, and of one that a wave holds",
    sql: `
      INSERT INTO taskgate.group_slot (group_id, slot, task_id) VALUES ({half}, 2, {ready});
      UPDATE taskgate.task SET group_id = {own} WHERE task_id = {held};
      UPDATE taskgate.task_group SET slots = 2 WHERE group_id = {own};
      INSERT INTO taskgate.group_slot (group_id, slot, task_id) VALUES ({own}, 2, {held});`,
    found: [
      [rules.slotHeld, "{half}/2", "{ready}"],
      [rules.slotHeld, "{own}/2", "{held}"],
    ],
  },
  {
    title:
      "tasks that name a group without a slot of it, scheduled and held; one that names a group twice",
    sql: `
      UPDATE taskgate.task SET group_id = {half} WHERE task_id IN ({scheduled}, {held});
      UPDATE taskgate.task SET pending_group_key = 'other' WHERE task_id = {half1};`,
    found: [
      [rules.outside, "{scheduled}", "scheduled"],
      [rules.outside, "{held}", "wave_blocked"],
      [rules.outside, "{half1}", "other"],
    ],
  },
  {
    title: "groups that are gone, of a task, a slot, one that waits, and one that may be redriven",
    sql: `
      UPDATE taskgate.task SET group_id = 997 WHERE task_id = {half1};
      UPDATE taskgate.group_slot SET group_id = 997 WHERE task_id = {half1};
      UPDATE taskgate.archive SET group_id = 996 WHERE task_id = {done};`,
    found: [
      [rules.lostGroup, "997", "slot"],
      [rules.lostGroup, "996", "archive"],
    ],
  },
  {
    title: "tasks that wait beside a free slot",
    sql: "UPDATE taskgate.task_group SET slots = 3 WHERE group_id = {pair}",
    found: [[rules.freeSlot, "{pair}", "2 of 3 slots used"]],
  },
  {
    title: "nothing of those that wait beside a free slot of a paused group",
    sql: "UPDATE taskgate.task_group SET slots = 3, paused = {true} WHERE group_id = {pair}",
    found: [],
  },
];

const others: readonly PlantedFault[] = [
  {
    title: "a key whose task has ended; nothing of one with a window",
    sql: `
      INSERT INTO taskgate.dedupe (task_definition_id, dedupe_key, task_id, expires_at) VALUES ({one}, 'left over', {done}, NULL);
      INSERT INTO taskgate.dedupe (task_definition_id, dedupe_key, task_id, expires_at) VALUES ({one}, 'kept', {done}, {now});`,
    found: [[rules.key, "{one}/left over", "{done}"]],
  },
  {
    title: "waves that count more or less than there is",
    sql: `
      UPDATE taskgate.wave_shard SET remaining = 3 WHERE wave_id = {early} AND shard = 8;
      UPDATE taskgate.wave_shard SET remaining = 0 WHERE wave_id = {early} AND shard = 9;
      UPDATE taskgate.wave_shard SET remaining = 4 WHERE wave_id = {early} AND shard = 10;`,
    found: [
      [rules.wave, "{early}/8", "3 counted, 1 there"],
      [rules.wave, "{early}/9", "0 counted, 1 there"],
      [rules.wave, "{early}/10", "4 counted, 0 there"],
    ],
  },
  {
    title: "tasks that a wave counts in its first shard and in its last, where there are none",
    sql: `
      INSERT INTO taskgate.wave_shard (wave_id, shard, remaining) VALUES ({early}, 0, 1), ({early}, 15, 2);
      UPDATE taskgate.wave SET open_shards = 5 WHERE wave_id = {early};`,
    found: [
      [rules.wave, "{early}/0", "1 counted, 0 there"],
      [rules.wave, "{early}/15", "2 counted, 0 there"],
    ],
  },
  {
    title: "a wave whose task went to another one",
    sql: "UPDATE taskgate.task SET wave_id = {late} WHERE task_id = {wave1}",
    found: [
      [rules.wave, "{early}/8", "1 counted, 0 there"],
      [rules.wave, "{late}/8", "0 counted, 1 there"],
    ],
  },
  {
    title: "a wave that counts its shards wrongly, the last ones and the gates left out",
    sql: `
      UPDATE taskgate.wave SET open_shards = 4 WHERE wave_id = {early};
      INSERT INTO taskgate.wave_shard (wave_id, shard, remaining) VALUES ({early}, 16, 1), ({early}, 17, 1);`,
    found: [[rules.shards, "{early}", "4 counted, 3 there"]],
  },
  {
    title: "a wave that is done and has unfinished tasks, some of them held",
    sql: "UPDATE taskgate.wave SET state = 3, open_shards = 2 WHERE wave_id = {early}",
    found: [
      [rules.open, "{early}", "state 3, 2 open shards"],
      [rules.holds, "{early}", "state 3"],
    ],
  },
  {
    title: "a wave that is held and counts tasks",
    sql: `
      UPDATE taskgate.wave SET open_shards = 1 WHERE wave_id = {late};
      UPDATE taskgate.task SET wave_id = {late} WHERE task_id = {wave1};
      UPDATE taskgate.wave_shard SET remaining = 1 WHERE wave_id = {late} AND shard = 8;
      UPDATE taskgate.wave_shard SET remaining = 0 WHERE wave_id = {early} AND shard = 8;
      UPDATE taskgate.wave SET open_shards = 2 WHERE wave_id = {early};`,
    found: [[rules.open, "{late}", "state 0, 1 open shards"]],
  },
  {
    title:
      "two waves of one batch that are open, one of them without tasks; nothing of one of another batch",
    sql: `
      UPDATE taskgate.wave SET state = 2 WHERE wave_id = {late};
      INSERT INTO taskgate.batch (operation_id, name, state, failure_policy, created_at) VALUES ({uuid}, 'another', 1, 1, {now});
      INSERT INTO taskgate.wave (batch_id, ordinal, state, open_shards) SELECT MAX(batch_id), 1, 1, 1 FROM taskgate.batch;`,
    found: [
      [rules.open, "{late}", "state 2, 0 open shards"],
      [rules.one, "{batch}", "2 open"],
    ],
  },
];

const schedules: readonly PlantedFault[] = [
  {
    title: "a schedule whose definition is gone",
    sql: "UPDATE taskgate.schedule SET task_definition_id = 999 WHERE schedule_id = {schedule}",
    found: [[rules.schedule, "{schedule}", "999"]],
  },
  {
    title: "a schedule's group whose schedule is gone",
    sql: "UPDATE taskgate.schedule_group SET schedule_id = 999",
    found: [[rules.scheduleGroup, "999", "nightly"]],
  },
];

const deletedByHand: readonly PlantedFault[] = [
  {
    title: "a task whose definition is gone",
    sql: `
      UPDATE taskgate.task SET task_definition_id = 999 WHERE task_id = {scheduled};
      UPDATE taskgate.scheduled SET task_definition_id = 999 WHERE task_id = {scheduled};`,
    found: [[rules.defined, "{scheduled}", "999"]],
  },
  {
    title: "waves whose batch is gone",
    sql: "UPDATE taskgate.wave SET batch_id = 999 WHERE wave_id = {early}",
    found: [[rules.batch, "{early}", "999"]],
  },
  {
    title: "counters that stand below what they gave, and one that hasn't begun",
    sql: {
      postgres: `
        select setval('taskgate.task_sequence', 7);
        select setval(pg_get_serial_sequence('taskgate.schedule', 'schedule_id'), 1, false)`,
    },
    found: [
      [rules.counter, "task_sequence", "7, {topTask} is given"],
      [rules.counter, "schedule", "not begun, {schedule} is given"],
    ],
  },
];

/** All of them. */
export const plantedFaults: readonly PlantedFault[] = [
  ...places,
  ...claims,
  ...tokenFaults,
  ...sharedFaults,
  ...groups,
  ...slotFaults,
  ...others,
  ...schedules,
  ...deletedByHand,
];
