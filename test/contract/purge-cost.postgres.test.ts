import { describe, expect, test } from "@jest/globals";
import { blocksRead } from "../support/blocks-read";
import { useContention } from "../support/use-contention";

/*
 * What a purge reads on PostgreSQL, in blocks of its cache: its plans find due rows from the old end of an index, so it
 * must not depend on how much is kept.
 */
const scene = useContention(() => true);
const slice = 10;
const kept = 60_000;

interface Kind {
  readonly table: string;
  /** What the answer calls them. */
  readonly counted: string;
  /** Rows `from` .. `to`, past the operations, whose `at` is that long ago. */
  readonly insert: (from: number, to: number, at: string) => string;
}

const series = (from: number, to: number): string =>
  `generate_series(${String(from)}, ${String(to)}) n`;

const kinds: readonly Kind[] = [
  {
    table: "archive",
    counted: "tasks",
    insert: (from, to, at) => `
      insert into taskgate.archive (task_id, task_definition_id, kind, priority, rank, created_at, finished_at, purge_after, build,
                                    outcome, failed_count, lost_count)
      select n, 1, 'one', 0, 0, now(), now(), ${at}, 1, 11, 0, 0 from ${series(from, to)};
      insert into taskgate.attempt (task_id, fence, task_execution_id, claimed_at, finished_at, outcome)
      select n, f, 1, now(), now(), 11 from ${series(from, to)}, generate_series(1, 2) f`,
  },
  {
    table: "archive_pack",
    counted: "tasks",
    insert: (from, to, at) => `
      insert into taskgate.archive_pack (first_task_id, last_task_id, task_definition_id, kind, priority, build, task_execution_id, finished_at, purge_after,
                                         task_ids, created_ats, fences)
      select n * 5, n * 5 + 4, 1, 'one', 0, 1, 1, now(), ${at}, array(select n * 5 + m from generate_series(0, 4) m), array_fill(now(), array[5]),
             array_fill(n, array[5])
        from ${series(from, to)}`,
  },
  {
    table: "task_execution",
    counted: "executions",
    insert: (from, to, at) => `
      insert into taskgate.task_execution (operation_id, task_definition_id, state, started_at, lease_until, ended_at, worker)
      select gen_random_uuid(), 1, 2, now(), now(), ${at} - interval '90 days', 'w' from ${series(from, to)}`,
  },
  {
    table: "operation",
    counted: "operations",
    insert: (from, to, at) => `
      insert into taskgate.operation (operation_id, name, done_at)
      select gen_random_uuid(), 'x', ${at} from ${series(from, to)}`,
  },
  {
    table: "dedupe",
    counted: "keys",
    insert: (from, to, at) => `
      insert into taskgate.dedupe (task_definition_id, dedupe_key, task_id, expires_at)
      select 1, 'k' || n, n, ${at} from ${series(from, to)}`,
  },
];

/** Of a purge of ten rows, with so many behind them that stay. */
async function blocksOfPurge({ counted, insert, table }: Kind, behind: number): Promise<number> {
  await scene.client.query(`truncate taskgate.${table}, taskgate.attempt`);
  const rounds = 6;
  // Due rows were written first, as in production; so many that the last slice isn't the last of all.
  await scene.client.query(insert(1, (rounds + 1) * slice, "now() - interval '2 days'"));
  await scene.client.query(insert(1_001, 1_000 + behind, "now() + interval '80 days'"));
  await scene.client.query("analyze");
  const blocks: number[] = [];
  const session = await scene.connect("worker");
  for (let round = 1; round <= rounds; round += 1) {
    const before = await blocksRead(session);
    const { rows } = await session.query<Record<string, number>>(
      "select * from taskgate.purge($1)",
      [slice],
    );
    blocks.push((await blocksRead(session)) - before);
    expect(rows[0]).toMatchObject({ [counted]: slice });
  }
  // What the first calls of a session read of the catalogue is not the purge's.
  return Math.min(...blocks);
}

describe("the blocks that a purge of ten rows reads", () => {
  test.each(kinds.map((kind) => [kind.table, kind] as const))(
    `a purge of %s reads hardly more with ${kept.toLocaleString("en-US")} rows that stay than with ten thousand`,
    async (_table, kind) => {
      const few = await blocksOfPurge(kind, 10_000);
      const many = await blocksOfPurge(kind, kept);
      expect(few).toBeGreaterThan(slice);
      // Keys that lie further apart, in an index that may have one more level: a few blocks for each row.
      expect(many).toBeLessThanOrEqual(few + 4 * slice);
    },
  );
});
