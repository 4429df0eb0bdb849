import { EntitySchema as MikroSchema } from "@mikro-orm/postgresql";
import { integer, pgTable } from "drizzle-orm/pg-core";
import { DataTypes } from "sequelize";
import type { ModelStatic, Sequelize } from "sequelize";
import { taskRef } from "taskgate";
import { EntitySchema } from "typeorm";

/** The task that each guide's program enqueues; nothing runs it here. */
export const bill = taskRef<{ order: number }>({ name: "bill" });

/* The table `orders`, in the words of each ORM. */

export const orders = pgTable("orders", { id: integer().primaryKey() });

export interface Tables {
  orders: { id: number };
}

export const TypeormOrder = new EntitySchema<{ id: number }>({
  name: "Order",
  tableName: "orders",
  columns: { id: { type: "int", primary: true } },
});

export const MikroOrder = new MikroSchema<{ id: number }>({
  name: "Order",
  tableName: "orders",
  properties: { id: { type: "integer", primary: true, autoincrement: false } },
});

export function defineOrder(sequelize: Sequelize): ModelStatic<never> {
  const id = { type: DataTypes.INTEGER, primaryKey: true };
  return sequelize.define("Order", { id }, { tableName: "orders", timestamps: false });
}
