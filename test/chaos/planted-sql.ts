import type { Client } from "pg";

/** A fault of the database's functions: in a function, one text becomes another. */
interface SqlFault {
  readonly functions: readonly string[];
  readonly from: RegExp;
  readonly to: string;
}

/** By name. Faults of a worker are in planted-store.ts. */
const faults: Readonly<Record<string, SqlFault>> = {
  // Any earlier holder of the task may complete it.
  "no-fence": {
    functions: ["complete_task"],
    from: /select e\.task_definition_id into v_definition from task_execution e[^;]+for no key update;/,
    to: "select t.task_definition_id into v_definition from task t where t.task_id = p_task_id;",
  },
  // Workers are told of a longer lease than others see.
  "wrong-lease": {
    functions: ["work", "heartbeat", "start_execution"],
    from: /lease_ms \* interval '1 ms'/g,
    to: "lease_ms * interval '0.2 ms'",
  },
  // A stale completion writes nothing and is told that it counts.
  "double-ack": {
    functions: ["complete_task"],
    from: /then 'again' else 'fenced' end;/,
    to: "then 'again' else 'done' end;",
  },
  "one-token-more": {
    functions: ["_settle_tokens"],
    from: /coalesce\(concurrency_limit_override, concurrency_limit\) as task_limit/,
    to: "coalesce(concurrency_limit_override, concurrency_limit) + 1 as task_limit",
  },
  // What a dead worker had claimed isn't put back.
  "lost-task": {
    functions: ["reclaim_expired"],
    from: /where v_some is null or t\.task_id <> all \(v_some\);/,
    to: "where false;",
  },
  // A repeated enqueue adds its tasks again.
  "repeat-adds": {
    functions: ["enqueue_tasks"],
    from: /if p_operation_id is not null then(\s+insert)/,
    to: "if false then$1",
  },
};

export const sqlPlants: readonly string[] = Object.keys(faults);

/** Plants the fault of that name, if it is the database's. Throws where the function has changed so that nothing is planted. */
export async function plantSql(client: Client, name: string): Promise<void> {
  const fault = faults[name];
  if (fault === undefined) return;
  for (const called of fault.functions) {
    const { rows } = await client.query<{ text: string }>(
      `select pg_get_functiondef(oid) as text from pg_proc
        where proname = $1 and pronamespace = 'taskgate'::regnamespace`,
      [called],
    );
    const text = rows[0]?.text ?? "";
    const planted = text.replace(fault.from, fault.to);
    if (planted === text) throw new Error(`${name} can't be planted in ${called}: it has changed`);
    await client.query(planted);
  }
}
