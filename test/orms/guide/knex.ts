import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import type { Knex } from "knex";
import { bill } from "./tables.ts";

export function fromKnex(trx: Knex): StoreTransaction {
  return fromPg((text, values) => trx.raw(text.replace(/\$\d+/g, "?"), values));
}

export async function placeOrder(knex: Knex, client: TaskClient, id: number) {
  const transaction = await knex.transaction(async (trx) => {
    await trx("orders").insert({ id });
    const transaction = fromKnex(trx);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
