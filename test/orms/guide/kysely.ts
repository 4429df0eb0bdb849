import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import { CompiledQuery } from "kysely";
import type { Kysely } from "kysely";
import { bill } from "./tables.ts";
import type { Tables } from "./tables.ts";

export function fromKysely(trx: Pick<Kysely<Tables>, "executeQuery">): StoreTransaction {
  return fromPg((text, values) => trx.executeQuery(CompiledQuery.raw(text, values)));
}

export async function placeOrder(db: Kysely<Tables>, client: TaskClient, id: number) {
  const transaction = await db.transaction().execute(async (trx) => {
    await trx.insertInto("orders").values({ id }).execute();
    const transaction = fromKysely(trx);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
