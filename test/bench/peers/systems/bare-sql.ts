import { Client, Pool } from "pg";
import type { Setup } from "../../peers-launcher/protocol.ts";
import { Counting } from "../counting.ts";
import type { Handle, Payload, QueueSystem } from "../system.ts";

/*
 * The least that PostgreSQL must write for a queue, in one table and one statement: a task is durably marked before it runs,
 * and deleted when it has run. There is no limit, retry, lease, key, group, delay or history. A queue that keeps each task as
 * a row of PostgreSQL can't be much faster.
 */

const schema = `
  create schema bare;
  create table bare.job (
    id bigint generated always as identity primary key, payload json not null, worker int);
  create index on bare.job (id) where worker is null;`;

const addMany = "insert into bare.job (payload) select value from json_array_elements($1::json)";

/** Ends some and marks the next ones: one round trip, one commit. */
const turn = {
  name: "turn",
  text: `
  with ended as (delete from bare.job where id = any($1::bigint[])),
  next as (
    select id from bare.job where worker is null order by id limit $2 for update skip locked)
  update bare.job as job set worker = $3 from next where job.id = next.id
  returning job.id, job.payload`,
};

/** Rows by their keys, with any statistics of the table. */
const plans = "set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off";

interface Job {
  readonly id: string;
  readonly payload: Payload;
}

/** Jobs that are held at once, and the connections that they are spread over. */
function shapeOf({ work, style, inFlight }: Setup): { held: number; connections: number } {
  if (work !== "strict") return { held: 1_000, connections: 2 };
  return { held: style === "batching" ? 2 * inFlight : inFlight, connections: 1 };
}

export async function openSystem(setup: Setup): Promise<QueueSystem> {
  const { url, index, callers } = setup;
  const { held, connections } = shapeOf(setup);
  const pool = new Pool({ connectionString: url, max: callers });
  const unfinished = new Counting(url, "select count(*)::int as count from bare.job");
  const loops: Promise<void>[] = [];
  const state = { ends: false };
  return {
    settings: `one table, ${held} held at once per process, connections ${connections}`,
    prepare: async () => {
      await pool.query(schema);
    },
    enqueueBulk: async (payloads) => {
      await pool.query({ name: "add-many", text: addMany, values: [JSON.stringify(payloads)] });
    },
    enqueueOne: async (payload) => {
      const text = "insert into bare.job (payload) values ($1::json)";
      await pool.query({ name: "add", text, values: [JSON.stringify(payload)] });
    },
    work: async (handle) => {
      for (let n = 0; n < connections; n += 1) {
        const client = new Client({ connectionString: url });
        await client.connect();
        await client.query(plans);
        const loop = runLoop({ client, index, held: held / connections, handle, state });
        loops.push(loop.finally(() => client.end()));
      }
    },
    unfinished: () => unfinished.count(),
    close: async () => {
      state.ends = true;
      await Promise.all(loops);
      await pool.end();
      await unfinished.close();
    },
  };
}

interface Loop {
  readonly client: Client;
  readonly index: number;
  readonly held: number;
  readonly handle: Handle;
  readonly state: { readonly ends: boolean };
}

/** One statement after the other: it ends what has run since, and takes as many as are missing. */
async function runLoop({ client, index, held, handle, state }: Loop): Promise<void> {
  let ended: string[] = [];
  let running = 0;
  let wake = (): void => undefined;
  const run = async ({ id, payload }: Job): Promise<void> => {
    await handle(payload);
    ended.push(id);
    running -= 1;
    wake();
  };
  while (!state.ends || ended.length > 0) {
    if (ended.length === 0 && running === held) await new Promise<void>((done) => (wake = done));
    const telling = ended;
    ended = [];
    const want = state.ends ? 0 : held - running;
    const { rows } = await client.query<Job>({ ...turn, values: [telling, want, index] });
    running += rows.length;
    for (const job of rows) void run(job);
  }
}
