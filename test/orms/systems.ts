import { MikroORM } from "@mikro-orm/postgresql";
import { PrismaPg } from "@prisma/adapter-pg";
import { drizzle } from "drizzle-orm/node-postgres";
import knex from "knex";
import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import postgres from "postgres";
import { Sequelize } from "sequelize";
import { fromPg } from "taskgate";
import type { StoreTransaction } from "taskgate";
import { DataSource } from "typeorm";
import { PrismaClient } from "./generated/client.ts";
import * as drizzleGuide from "./guide/drizzle.ts";
import * as knexGuide from "./guide/knex.ts";
import * as kyselyGuide from "./guide/kysely.ts";
import * as mikroGuide from "./guide/mikro-orm.ts";
import * as postgresJsGuide from "./guide/postgres-js.ts";
import * as prismaGuide from "./guide/prisma.ts";
import * as sequelizeGuide from "./guide/sequelize.ts";
import * as typeormGuide from "./guide/typeorm.ts";
import { bill, defineOrder, MikroOrder, TypeormOrder } from "./guide/tables.ts";
import type { Tables } from "./guide/tables.ts";
import type { SystemName } from "../orms-launcher/protocol.ts";
import type { OpenSystem } from "./system.ts";

/** The driver's own client, which the others are compared with. */
const openPg: OpenSystem = async (url) => {
  const pool = new Pool({ connectionString: url });
  const idle = await pool.connect();
  return {
    placeOrder: async (client, id) => {
      const pg = await pool.connect();
      let transaction: StoreTransaction;
      try {
        await pg.query("begin");
        await pg.query("insert into orders (id) values ($1)", [id]);
        transaction = fromPg(pg);
        await client.enqueue(bill, { order: id }, { transaction });
        await pg.query("commit");
      } catch (error) {
        await pg.query("rollback");
        throw error;
      } finally {
        pg.release();
      }
      await client.committed(transaction);
    },
    outside: () => fromPg(idle),
    close: async () => {
      idle.release();
      await pool.end();
    },
  };
};

const openDrizzle: OpenSystem = async (url) => {
  const pool = new Pool({ connectionString: url });
  const db = drizzle({ client: pool });
  return {
    placeOrder: (client, id) => drizzleGuide.placeOrder(db, client, id),
    outside: () => drizzleGuide.fromDrizzle(db),
    close: () => pool.end(),
  };
};

const openPrisma: OpenSystem = async (url) => {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
  return {
    placeOrder: (client, id) => prismaGuide.placeOrder(prisma, client, id),
    outside: () => prismaGuide.fromPrisma(prisma),
    close: () => prisma.$disconnect(),
  };
};

const openKnex: OpenSystem = async (url) => {
  const db = knex({ client: "pg", connection: url });
  return {
    placeOrder: (client, id) => knexGuide.placeOrder(db, client, id),
    outside: () => knexGuide.fromKnex(db),
    close: () => db.destroy(),
  };
};

const openKysely: OpenSystem = async (url) => {
  const pool = new Pool({ connectionString: url });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  return {
    placeOrder: (client, id) => kyselyGuide.placeOrder(db, client, id),
    outside: () => kyselyGuide.fromKysely(db),
    close: () => db.destroy(),
  };
};

const openTypeorm: OpenSystem = async (url) => {
  const source = new DataSource({ type: "postgres", url, entities: [TypeormOrder] });
  await source.initialize();
  return {
    placeOrder: (client, id) => typeormGuide.placeOrder(source, client, id),
    outside: () => typeormGuide.fromTypeorm(source.manager),
    close: () => source.destroy(),
  };
};

const openSequelize: OpenSystem = async (url) => {
  const sequelize = new Sequelize(url, { logging: false });
  defineOrder(sequelize);
  return {
    placeOrder: (client, id) => sequelizeGuide.placeOrder(sequelize, client, id),
    outside: () => fromPg((text, bind) => sequelize.query(text, { bind })),
    close: () => sequelize.close(),
  };
};

const openMikroOrm: OpenSystem = async (url) => {
  const orm = await MikroORM.init({ clientUrl: url, entities: [MikroOrder] });
  return {
    placeOrder: (client, id) => mikroGuide.placeOrder(orm.em.fork(), client, id),
    outside: () => mikroGuide.fromMikroOrm(orm.em.fork()),
    close: () => orm.close(),
  };
};

const openPostgresJs: OpenSystem = async (url) => {
  const sql = postgres(url);
  return {
    placeOrder: (client, id) => postgresJsGuide.placeOrder(sql, client, id),
    outside: () => postgresJsGuide.fromPostgresJs(sql),
    close: () => sql.end(),
  };
};

/** By the name of the package that is judged. */
export const systems: Readonly<Record<SystemName, OpenSystem>> = {
  pg: openPg,
  "drizzle-orm": openDrizzle,
  "@prisma/client": openPrisma,
  knex: openKnex,
  kysely: openKysely,
  typeorm: openTypeorm,
  sequelize: openSequelize,
  "@mikro-orm/postgresql": openMikroOrm,
  postgres: openPostgresJs,
};
