import { fromPg } from "taskgate";
import type { StoreTransaction, TaskClient } from "taskgate";
import type { Prisma, PrismaClient } from "../generated/client.ts";
import { bill } from "./tables.ts";

export function fromPrisma(
  tx: Pick<Prisma.TransactionClient, "$queryRawUnsafe">,
): StoreTransaction {
  return fromPg((text, values) => tx.$queryRawUnsafe(text, ...values));
}

export async function placeOrder(prisma: PrismaClient, client: TaskClient, id: number) {
  const transaction = await prisma.$transaction(async (tx) => {
    await tx.order.create({ data: { id } });
    const transaction = fromPrisma(tx);
    await client.enqueue(bill, { order: id }, { transaction });
    return transaction;
  });
  await client.committed(transaction);
}
