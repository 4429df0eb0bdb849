import type { SystemName } from "./protocol";

/** The driver, with which the others are compared, comes first. */
const known: Readonly<Record<SystemName, true>> = {
  pg: true,
  "drizzle-orm": true,
  "@prisma/client": true,
  knex: true,
  kysely: true,
  typeorm: true,
  sequelize: true,
  "@mikro-orm/postgresql": true,
  postgres: true,
};

/** All of them, in the order in which they are judged. */
export const systemNames = Object.keys(known) as readonly SystemName[];
