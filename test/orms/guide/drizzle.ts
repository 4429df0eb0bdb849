import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { bill, orders } from "./tables.ts";

export function fromDrizzle(tx: Pick<NodePgDatabase, "execute">): StoreTransaction {
  return fromPg((text, values) => {
    const [head = "", ...rest] = text.split(/\$\d+/);
    const parts = rest.map((part, index) => sql`${values[index]}${sql.raw(part)}`);
    return tx.execute(sql.join([sql.raw(head), ...parts]));
  });
}

export async function placeOrder(db: NodePgDatabase, client: TaskClient, id: number) {
  const transaction = await db.transaction(async (tx) => {
    await tx.insert(orders).values({ id });
    const transaction = fromDrizzle(tx);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
