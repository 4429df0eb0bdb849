import { BatchConnection } from "./batch-connection";
import { loginNames } from "../support/roles";
import { dropObjects } from "./drop-objects";
import type { ServerFacts } from "./server-facts";
import { WorkplaceError } from "./workplace";
import type { Workplace } from "./workplace";

/** The product's own, which can't be called otherwise on SQL Server, and one for the tables of the litmus tests. */
const schemas = ["Taskgate", "TaskgateLitmus"] as const;
/** Those of the tests' stores, and of the scripts. */
export const testUsers: readonly string[] = [...Object.values(loginNames), "TaskgateVerifyUser"];
const roles = ["TaskgateWorker", "TaskgateOperator"] as const;
/** Tables that the contract suite makes beside them, as a user's own code would. */
export const suiteTables: readonly string[] = ["dbo.TaskgateContractOrders"];

/** Takes two schemas of a database that is there already. Throws WorkplaceError when one of the names is taken. */
export async function takeOwnSchemas(url: string, facts: ServerFacts): Promise<Workplace> {
  const connection = await BatchConnection.open(url, "taskgate verify");
  try {
    await refuseWhatIsThere(connection, facts);
    await connection.must("CREATE SCHEMA TaskgateLitmus;");
  } finally {
    await connection.close();
  }
  return {
    server: facts.title,
    url,
    what: `schemas ${schemas.join(" and ")} of database ${facts.database}, removed at the end`,
    litmusSchema: "TaskgateLitmus",
    engines: facts.engine === undefined ? [] : [facts.engine],
    lockView: "server",
    isSimulated: false,
    mayMakeLogins: facts.mayMakeLogins,
    switchTo: () => Promise.resolve(),
    remove: () => removeSchemas(url),
  };
}

async function refuseWhatIsThere(connection: BatchConnection, facts: ServerFacts): Promise<void> {
  const { rows } = await connection.must(
    `SELECT s.name AS Name FROM sys.schemas AS s WHERE s.name IN (${listed(schemas)})
     UNION ALL SELECT p.name FROM sys.database_principals AS p WHERE p.name IN (${listed([...roles, ...testUsers])})
     UNION ALL SELECT t.name FROM sys.tables AS t WHERE t.object_id IN (${suiteTables.map((name) => `OBJECT_ID(N'${name}')`).join(", ")});`,
  );
  const fix =
    "Give the login the right to create databases (ALTER SERVER ROLE dbcreator ADD MEMBER ..), or name an empty database made for this";
  if (rows.length > 0) {
    throw new WorkplaceError(
      `The database ${facts.database} has ${rows.map(([name]) => String(name)).join(", ")} already, and nothing that was there is touched. ${fix}.`,
    );
  }
  if (facts.engine === "locking") {
    throw new WorkplaceError(
      `The database ${facts.database} has READ_COMMITTED_SNAPSHOT off, which Taskgate would turn on and leave on. ${fix}, or turn it on there yourself: ALTER DATABASE CURRENT SET READ_COMMITTED_SNAPSHOT ON.`,
    );
  }
}

/** Drops both schemas with all that is in them, the roles and the suite's tables. Safe to repeat. */
export async function removeSchemas(url: string): Promise<void> {
  const connection = await BatchConnection.open(url, "taskgate verify");
  try {
    // Another call may still be ending.
    await connection.must("SET LOCK_TIMEOUT 30000;");
    for (const schema of schemas) {
      await dropObjects(connection, schema);
      await connection.must(`DROP SCHEMA IF EXISTS ${schema};`);
    }
    for (const user of testUsers) await connection.must(`DROP USER IF EXISTS ${user};`);
    for (const role of roles) await connection.must(`DROP ROLE IF EXISTS ${role};`);
    for (const table of suiteTables) await connection.must(`DROP TABLE IF EXISTS ${table};`);
  } finally {
    await connection.close();
  }
}

function listed(names: readonly string[]): string {
  return names.map((name) => `N'${name}'`).join(", ");
}
