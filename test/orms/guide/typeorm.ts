import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import type { DataSource, EntityManager } from "typeorm";
import { bill, TypeormOrder } from "./tables.ts";

export function fromTypeorm(manager: EntityManager): StoreTransaction {
  return fromPg((text, values) => manager.query(text, values));
}

export async function placeOrder(source: DataSource, client: TaskClient, id: number) {
  const transaction = await source.transaction(async (manager) => {
    await manager.insert(TypeormOrder, { id });
    const transaction = fromTypeorm(manager);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
