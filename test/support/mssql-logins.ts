import type { TaskStore } from "../../shared/ports/task-store";
import { loginNames, loginPassword, roleNames, roles } from "./roles";
import type { Role } from "./roles";

/** Makes the tests' users in a database that can have users with passwords and has none of them yet. */
export const makeLoginsSql = roles
  .flatMap((role) => [createUser(role), addMember(role)])
  .join("\n");

/** Makes the tests' users in the owner's database, each a member of one shipped role. Changes nothing where they are. */
export async function makeMssqlLogins(owner: TaskStore): Promise<void> {
  for (const role of roles) {
    for (const statement of statementsFor(role)) {
      await owner.transaction((transaction) => transaction.query(statement));
    }
  }
}

/** A user with a password where the database can have one (Azure SQL, contained databases), else one of a login. */
function statementsFor(role: Role): string[] {
  const name = loginNames[role];
  const isContained = `(CONVERT(int, SERVERPROPERTY('EngineEdition')) = 5
    OR EXISTS (SELECT 1 FROM sys.databases AS d WHERE d.name = DB_NAME() AND d.containment = 1))`;
  return [
    `IF NOT ${isContained} AND SUSER_ID(N'${name}') IS NULL CREATE LOGIN ${name} WITH PASSWORD = N'${loginPassword}', CHECK_POLICY = OFF;`,
    `IF DATABASE_PRINCIPAL_ID(N'${name}') IS NULL
       IF ${isContained} ${createUser(role)} ELSE CREATE USER ${name} FOR LOGIN ${name};`,
    addMember(role),
  ];
}

function createUser(role: Role): string {
  return `CREATE USER ${loginNames[role]} WITH PASSWORD = N'${loginPassword}';`;
}

function addMember(role: Role): string {
  return `ALTER ROLE ${roleNames.mssql[role]} ADD MEMBER ${loginNames[role]};`;
}
