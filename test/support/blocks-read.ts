import type { Client } from "pg";

/** By this session so far, of tables and indexes of the store: counted by the server, so it is the same on any machine. */
export async function blocksRead(client: Client): Promise<number> {
  await client.query("select pg_stat_force_next_flush()");
  const { rows } = await client.query<{ blocks: string }>(
    `select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)) as blocks
       from pg_statio_user_tables where schemaname = 'taskgate'`,
  );
  return Number(rows[0]?.blocks);
}
