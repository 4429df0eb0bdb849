import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import type { EntityManager } from "@mikro-orm/postgresql";
import { bill, MikroOrder } from "./tables.ts";

export function fromMikroOrm(em: EntityManager): StoreTransaction {
  return fromPg((text, values) => em.execute(text.replace(/\$\d+/g, "?"), values));
}

export async function placeOrder(em: EntityManager, client: TaskClient, id: number) {
  const transaction = await em.transactional(async (em) => {
    em.create(MikroOrder, { id });
    const transaction = fromMikroOrm(em);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
