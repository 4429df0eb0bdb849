import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import type { Sequelize, Transaction } from "sequelize";
import { bill } from "./tables.ts";

export function fromSequelize(sequelize: Sequelize, transaction: Transaction): StoreTransaction {
  return fromPg((text, bind) => sequelize.query(text, { bind, transaction }));
}

export async function placeOrder(sequelize: Sequelize, client: TaskClient, id: number) {
  const transaction = await sequelize.transaction(async (begun) => {
    await sequelize.models["Order"]?.create({ id }, { transaction: begun });
    const transaction = fromSequelize(sequelize, begun);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
