import { randomBytes } from "node:crypto";
import type { EngineName } from "../tsql-server/engine/options";
import { loginNames } from "../support/roles";
import { BatchConnection } from "./batch-connection";
import { quoted } from "./drop-objects";
import { readEngine } from "./server-facts";
import type { ServerFacts } from "./server-facts";
import { WorkplaceError } from "./workplace";
import type { Workplace } from "./workplace";

const logins: readonly string[] = Object.values(loginNames);
const prefix = "TaskgateVerify_";
/** The first version in which optimized locking can be switched on by hand. */
const optimizedVersionMin = 17;

/** Makes a database with a name of its own; it is dropped at the end, with its open connections. */
export async function makeOwnDatabase(url: string, facts: ServerFacts): Promise<Workplace> {
  const name = `${prefix}${randomBytes(6).toString("hex")}`;
  await onServer(url, async (connection) => {
    if (facts.mayMakeLogins) await refuseLogins(connection);
    await connection.must(`CREATE DATABASE ${quoted(name)};`);
  });
  const own = new URL(url);
  own.pathname = `/${name}`;
  const canOptimize = facts.majorVersion >= optimizedVersionMin && !facts.isAzureDatabase;
  return {
    server: facts.title,
    url: own.toString(),
    what: `database ${name}, removed at the end`,
    litmusSchema: "dbo",
    engines: canOptimize ? ["locking", "versioned", "azure"] : ["locking", "versioned"],
    lockView: "server",
    isSimulated: false,
    mayMakeLogins: facts.mayMakeLogins,
    switchTo: async (engine) => {
      await onServer(url, async (connection) => {
        for (const option of optionsOf(engine)) {
          await connection.must(`ALTER DATABASE ${quoted(name)} SET ${option};`);
        }
      });
      await onServer(own.toString(), async (connection) => {
        const found = await readEngine(connection);
        if (found !== engine) {
          throw new Error(
            `Expected the database to lock as \`${engine}\`, it is ${found ?? "another"}`,
          );
        }
      });
    },
    remove: () =>
      onServer(url, async (connection) => {
        await connection.must(
          `IF DB_ID(N'${name}') IS NOT NULL ALTER DATABASE ${quoted(name)} SET SINGLE_USER WITH ROLLBACK IMMEDIATE;`,
        );
        await connection.must(`DROP DATABASE IF EXISTS ${quoted(name)};`);
        if (!facts.mayMakeLogins) return;
        for (const login of logins)
          await connection.must(
            `IF SUSER_ID(N'${login}') IS NOT NULL DROP LOGIN ${quoted(login)};`,
          );
      }),
  };
}

/** The tests' logins belong to the server, not to the database: a server that has them already keeps them. */
async function refuseLogins(connection: BatchConnection): Promise<void> {
  const listed = logins.map((login) => `N'${login}'`).join(", ");
  const { rows } = await connection.must(
    `SELECT p.name AS Name FROM sys.server_principals AS p WHERE p.name IN (${listed});`,
  );
  if (rows.length === 0) return;
  const names = rows.map(([name]) => String(name)).join(", ");
  throw new WorkplaceError(
    `The server has the logins ${names} already, which this program makes and drops. Drop them if an earlier run left them.`,
  );
}

/** Databases that earlier runs couldn't remove: their process was killed, or the server went away. */
export async function findLeftovers(connection: BatchConnection): Promise<string[]> {
  const { rows } = await connection.must(
    `SELECT d.name AS Name FROM sys.databases AS d WHERE LEFT(d.name, ${String(prefix.length)}) = N'${prefix}' ORDER BY d.name;`,
  );
  return rows.map(([name]) => String(name));
}

/** From one engine to the next in their order. Optimized locking asks for accelerated recovery [doc: Optimized locking]. */
function optionsOf(engine: EngineName): string[] {
  switch (engine) {
    case "locking":
      return ["READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE"];
    case "versioned":
      return ["READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE"];
    case "azure":
      return ["ACCELERATED_DATABASE_RECOVERY = ON", "OPTIMIZED_LOCKING = ON"];
  }
}

async function onServer(
  url: string,
  body: (connection: BatchConnection) => Promise<unknown>,
): Promise<void> {
  const connection = await BatchConnection.open(url, "taskgate verify");
  try {
    await body(connection);
  } finally {
    await connection.close();
  }
}
