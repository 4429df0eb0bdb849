import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import type { Sql } from "postgres";
import { bill } from "./tables.ts";

export function fromPostgresJs(sql: Pick<Sql, "unsafe">): StoreTransaction {
  return fromPg((text, values) => sql.unsafe(text, values));
}

export async function placeOrder(sql: Sql, client: TaskClient, id: number) {
  const transaction = await sql.begin(async (sql) => {
    await sql`insert into orders (id) values (${id})`;
    const transaction = fromPostgresJs(sql);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
