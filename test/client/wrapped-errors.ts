/*
 * What ORMs make of an error of the driver, as their releases threw them in `npm run test:orms`: drizzle-orm 0.45, Prisma 7.10,
 * Knex 3.3, Kysely 0.29, TypeORM 1.1, Sequelize 6.37, MikroORM 7.2.
 */

/** As `pg` throws it. */
export interface DriverError extends Error {
  readonly code?: string;
  readonly severity?: string;
  readonly where?: string;
}

/** An ORM's way with an error that a statement met. */
export interface Wrapper {
  readonly orm: string;
  readonly wrap: (error: DriverError, text: string) => Error;
}

/** A copy whose message and members may be changed. */
function copyOf(error: DriverError): DriverError {
  return Object.assign(new Error(error.message), error);
}

/** Prisma's adapter names some errors itself, and knows nothing of the function in which the server was. */
function adapterCause({ code, message, severity }: DriverError): object {
  const known = { originalCode: code, originalMessage: message };
  if (code === "40001" || code === "40P01") return { ...known, kind: "TransactionWriteConflict" };
  return { ...known, kind: "postgres", code, severity, message, hint: undefined };
}

/** The ORMs, one by one; another one that throws what pg throws is like Kysely. */
export const wrappers: readonly Wrapper[] = [
  {
    orm: "Drizzle",
    wrap: (error, text) =>
      Object.assign(new Error(`Failed query: ${text}\nparams: `, { cause: error }), {
        query: text,
        params: [],
      }),
  },
  {
    orm: "Prisma with an adapter",
    wrap: (error) => {
      // A connection that broke isn't wrapped.
      if (error.code === undefined)
        return Object.assign(copyOf(error), { clientVersion: "7.10.0" });
      const driverAdapterError = new Error(error.message, { cause: adapterCause(error) });
      const said = `Raw query failed. Code: \`${error.code}\`. Message: \`${error.message}\``;
      return Object.assign(
        new Error(`\nInvalid \`prisma.$queryRawUnsafe()\` invocation:\n${said}`),
        {
          code: "P2010",
          meta: { driverAdapterError },
          clientVersion: "7.10.0",
        },
      );
    },
  },
  {
    orm: "Knex",
    wrap: (error, text) => Object.assign(copyOf(error), { message: `${text} - ${error.message}` }),
  },
  { orm: "Kysely", wrap: (error) => error },
  {
    orm: "TypeORM",
    wrap: (error, text) =>
      Object.assign(copyOf(error), { query: text, parameters: [], driverError: error }),
  },
  {
    orm: "Sequelize",
    wrap: (error, text) =>
      Object.assign(new Error(error.message), {
        name: "SequelizeDatabaseError",
        parent: error,
        original: error,
        sql: text,
      }),
  },
  {
    orm: "MikroORM",
    wrap: (error) => Object.assign(copyOf(error), { name: "DriverException", sqlState: undefined }),
  },
];
