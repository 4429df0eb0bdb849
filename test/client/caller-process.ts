import { Client } from "pg";
import { createClient } from "../../shared/client/create-client";
import { fromPg } from "../../shared/store/from-pg";
import { taskRef } from "../../shared/worker/define/task-ref";

/*
 * A program that enqueues in its own transaction and never comes to the commit. Arguments: the database's URL as the
 * caller's login, and as a worker. Writes `enqueued` when the task is in the open transaction.
 */
const [, , shopUrl = "", workerUrl = ""] = process.argv;

async function main(): Promise<void> {
  const client = createClient({ store: workerUrl });
  const pg = new Client({ connectionString: shopUrl });
  await pg.connect();
  await pg.query("begin; insert into orders values (1)");
  const bill = taskRef<{ order: number }>({ name: "bill" });
  await client.enqueue(bill, { order: 1 }, { dedupeKey: "killed", transaction: fromPg(pg) });
  process.stdout.write("enqueued\n");
  setInterval(() => undefined, 1_000);
}

void main();
