/* What the processes of test/orms are told, and what they tell: JSON, one text per line. Types only: both sides import them. */

/** The judged packages, by name. */
export type SystemName =
  | "pg"
  | "drizzle-orm"
  | "@prisma/client"
  | "knex"
  | "kysely"
  | "typeorm"
  | "sequelize"
  | "@mikro-orm/postgresql"
  | "postgres";

/** The word that a process is started with. */
export interface Asked {
  readonly system: SystemName;
  /** As the owner of the database: counts, and changes rights. */
  readonly ownerUrl: string;
  /** As a login that may write its own table and enqueue. */
  readonly shopUrl: string;
  /** As a worker: Taskgate's client. */
  readonly workerUrl: string;
  /** A storage account, and the queue there that gets hints. */
  readonly storage: string;
  readonly queue: string;
}

/** One check. */
export interface Told {
  readonly check: string;
  /** The error; null: the check passed. */
  readonly problem: string | null;
}
