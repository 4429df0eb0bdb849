import { done, fails, rows } from "../litmus-case";
import type { LitmusCase } from "../litmus-case";
import { threeRows } from "../tables";

const user = "TaskgateLitmusUser";
const role = "TaskgateLitmusRole";
const chains = "Ownership chains (Tutorial: Ownership chains and context switching)";
const permissions = "Permissions (Database Engine)";
const tableTypes =
  "User-defined table types (bb522526), Security: EXECUTE is needed to declare a table variable";

const someone = `CREATE USER ${user} WITHOUT LOGIN;`;
const reader = `CREATE PROCEDURE dbo.P AS SELECT V FROM dbo.T WHERE Id = 2;`;
const mayCall = `GRANT EXECUTE ON OBJECT::dbo.P TO ${user};`;

/** A batch of its own: it is bound as its caller. */
const declares = "EXEC (N'DECLARE @x dbo.L; SELECT COUNT(*) AS n FROM @x;');";

/** One batch as a user who owns nothing; an error of class 14 doesn't end it. */
function asUser(sql: string): string {
  return `EXECUTE AS USER = '${user}'; ${sql} REVERT;`;
}

function script(...batches: string[]): string {
  return batches.join("\nGO\n");
}

/** Who may do what: rights, roles, chains of one owner, what breaks them, and types. */
export const rightCases: readonly LitmusCase[] = [
  {
    title: "a procedure needs EXECUTE; what it reads of the same owner needs nothing",
    rules: ["R"],
    source: chains,
    setup: script(threeRows, reader, someone),
    steps: [
      { on: "A", sql: asUser("EXEC dbo.P;"), then: fails(229) },
      { on: "A", sql: mayCall, then: done },
      { on: "A", sql: asUser("EXEC dbo.P;"), then: rows([20]) },
      { on: "A", sql: asUser("SELECT V FROM dbo.T WHERE Id = 2;"), then: fails(229) },
    ],
  },
  {
    title: "dynamic SQL breaks the chain: its text is judged by who called",
    rules: ["R"],
    source: "Writing secure dynamic SQL in SQL Server: ownership chains don't cover it",
    setup: script(
      threeRows,
      "CREATE PROCEDURE dbo.P AS EXEC (N'SELECT V FROM dbo.T WHERE Id = 2;');",
      someone,
      mayCall,
    ),
    steps: [
      { on: "A", sql: asUser("EXEC dbo.P;"), then: fails(229) },
      { on: "A", sql: `GRANT SELECT ON OBJECT::dbo.T TO ${user};`, then: done },
      { on: "A", sql: asUser("EXEC dbo.P;"), then: rows([20]) },
    ],
  },
  {
    title: "another owner breaks the chain",
    rules: ["R"],
    source: chains,
    setup: script(
      "CREATE USER TaskgateLitmusOwner WITHOUT LOGIN;",
      "CREATE SCHEMA TaskgateLitmusOther AUTHORIZATION TaskgateLitmusOwner;",
      "CREATE TABLE TaskgateLitmusOther.T (Id int NOT NULL PRIMARY KEY, V int NOT NULL);",
      "CREATE PROCEDURE dbo.P AS SELECT t.V FROM TaskgateLitmusOther.T AS t;",
      someone,
      mayCall,
    ),
    steps: [
      { on: "A", sql: asUser("EXEC dbo.P;"), then: fails(229) },
      { on: "A", sql: `GRANT SELECT ON SCHEMA::TaskgateLitmusOther TO ${user};`, then: done },
      { on: "A", sql: asUser("EXEC dbo.P;"), then: rows() },
    ],
  },
  {
    title: "a procedure calls another one of its owner, which its caller may not",
    rules: ["R"],
    source: chains,
    setup: script(
      "CREATE PROCEDURE dbo.Q AS SELECT 7 AS n;",
      "CREATE PROCEDURE dbo.P AS EXEC dbo.Q;",
      someone,
      mayCall,
    ),
    steps: [
      { on: "A", sql: asUser("EXEC dbo.P;"), then: rows([7]) },
      { on: "A", sql: asUser("EXEC dbo.Q;"), then: fails(229) },
    ],
  },
  {
    title: "SELECT on a view reaches its tables, which its reader may not",
    rules: ["R"],
    source: chains,
    setup: script(
      threeRows,
      "CREATE VIEW dbo.V AS SELECT t.V FROM dbo.T AS t WHERE t.Id = 3;",
      someone,
    ),
    steps: [
      { on: "A", sql: asUser("SELECT V FROM dbo.V;"), then: fails(229) },
      { on: "A", sql: `GRANT SELECT ON OBJECT::dbo.V TO ${user};`, then: done },
      { on: "A", sql: asUser("SELECT V FROM dbo.V;"), then: rows([30]) },
    ],
  },
  {
    title: "an inline function needs SELECT, a scalar one EXECUTE",
    rules: ["R"],
    source: "GRANT Object Permissions: SELECT of table-valued, EXECUTE of scalar functions",
    setup: script(
      "CREATE FUNCTION dbo.F (@n int) RETURNS TABLE AS RETURN SELECT @n AS n;",
      "CREATE FUNCTION dbo.G (@n int) RETURNS int AS BEGIN RETURN @n + 1; END;",
      someone,
    ),
    steps: [
      { on: "A", sql: asUser("SELECT f.n FROM dbo.F(1) AS f;"), then: fails(229) },
      { on: "A", sql: asUser("SELECT dbo.G(1) AS n;"), then: fails(229) },
      {
        on: "A",
        sql: `GRANT SELECT ON OBJECT::dbo.F TO ${user}; GRANT EXECUTE ON OBJECT::dbo.G TO ${user};`,
        then: done,
      },
      { on: "A", sql: asUser("SELECT dbo.G(f.n) AS n FROM dbo.F(1) AS f;"), then: rows([2]) },
    ],
  },
  {
    title: "an UPDATE that reads a column needs SELECT besides",
    rules: ["R"],
    source: "UPDATE (Transact-SQL), Permissions",
    setup: script(threeRows, someone, `GRANT UPDATE, DELETE ON OBJECT::dbo.T TO ${user};`),
    steps: [
      { on: "A", sql: asUser("UPDATE dbo.T SET V = 5 WHERE Id = 1;"), then: fails(229) },
      { on: "A", sql: asUser("DELETE FROM dbo.T WHERE Id = 1;"), then: fails(229) },
      { on: "A", sql: asUser("UPDATE dbo.T SET V = 5;"), then: done },
      { on: "A", sql: `GRANT SELECT ON OBJECT::dbo.T TO ${user};`, then: done },
      { on: "A", sql: asUser("DELETE FROM dbo.T WHERE Id = 1;"), then: done },
      { on: "A", sql: "SELECT Id, V FROM dbo.T;", then: rows([2, 5], [3, 5]) },
    ],
  },
  {
    title: "a row is inserted by who has INSERT, and not read by them",
    rules: ["R"],
    source: permissions,
    setup: script(threeRows, someone),
    steps: [
      { on: "A", sql: asUser("INSERT INTO dbo.T (Id, V) VALUES (4, 40);"), then: fails(229) },
      { on: "A", sql: `GRANT INSERT ON OBJECT::dbo.T TO ${user};`, then: done },
      { on: "A", sql: asUser("INSERT INTO dbo.T (Id, V) VALUES (4, 40);"), then: done },
      { on: "A", sql: asUser("SELECT V FROM dbo.T WHERE Id = 4;"), then: fails(229) },
    ],
  },
  {
    title:
      "a right of a role is its members', also of roles inside it, as long as they belong to it",
    rules: ["R"],
    source: "Database-level roles",
    setup: script(
      reader.replace("V FROM dbo.T WHERE Id = 2", "20 AS V"),
      someone,
      `CREATE ROLE ${role}; CREATE ROLE ${role}Inside;`,
      `ALTER ROLE ${role} ADD MEMBER ${role}Inside;`,
      `GRANT EXECUTE ON OBJECT::dbo.P TO ${role};`,
    ),
    steps: [
      { on: "A", sql: asUser("EXEC dbo.P;"), then: fails(229) },
      { on: "A", sql: `ALTER ROLE ${role}Inside ADD MEMBER ${user};`, then: done },
      { on: "A", sql: asUser("EXEC dbo.P;"), then: rows([20]) },
      { on: "A", sql: `ALTER ROLE ${role}Inside DROP MEMBER ${user};`, then: done },
      { on: "A", sql: asUser("EXEC dbo.P;"), then: fails(229) },
    ],
  },
  {
    title: "DENY wins over what a role grants; REVOKE takes it back",
    rules: ["R"],
    source: "DENY (Transact-SQL); REVOKE (Transact-SQL)",
    setup: script(
      threeRows,
      someone,
      `CREATE ROLE ${role}; ALTER ROLE ${role} ADD MEMBER ${user};`,
      `GRANT SELECT ON OBJECT::dbo.T TO ${role};`,
    ),
    steps: [
      { on: "A", sql: asUser("SELECT V FROM dbo.T WHERE Id = 1;"), then: rows([10]) },
      { on: "A", sql: `DENY SELECT ON OBJECT::dbo.T TO ${user};`, then: done },
      { on: "A", sql: asUser("SELECT V FROM dbo.T WHERE Id = 1;"), then: fails(229) },
      { on: "A", sql: `REVOKE SELECT ON OBJECT::dbo.T FROM ${user};`, then: done },
      { on: "A", sql: asUser("SELECT V FROM dbo.T WHERE Id = 1;"), then: rows([10]) },
    ],
  },
  {
    title: "CONTROL implies every other right",
    rules: ["R"],
    source: `${permissions}: naming conventions, CONTROL`,
    setup: script(threeRows, someone, `GRANT CONTROL ON OBJECT::dbo.T TO ${user};`),
    steps: [
      { on: "A", sql: asUser("UPDATE dbo.T SET V = 11 WHERE Id = 1;"), then: done },
      { on: "A", sql: asUser("SELECT V FROM dbo.T WHERE Id = 1;"), then: rows([11]) },
    ],
  },
  {
    title: "a number of a sequence needs UPDATE on it, unless a procedure of its owner asks",
    rules: ["R"],
    source: "NEXT VALUE FOR (Transact-SQL), Security",
    setup: script(
      "CREATE SEQUENCE dbo.S AS bigint START WITH 1 INCREMENT BY 1;",
      "CREATE PROCEDURE dbo.P AS SELECT NEXT VALUE FOR dbo.S AS n;",
      someone,
      mayCall,
    ),
    steps: [
      { on: "A", sql: asUser("SELECT NEXT VALUE FOR dbo.S AS n;"), then: fails(229) },
      { on: "A", sql: asUser("EXEC dbo.P;"), then: rows([1]) },
    ],
  },
  {
    title: "a variable of a table type needs EXECUTE on the type",
    rules: ["R"],
    source: tableTypes,
    setup: script("CREATE TYPE dbo.L AS TABLE (i int NOT NULL PRIMARY KEY);", someone),
    steps: [
      { on: "A", sql: asUser(declares), then: fails(229) },
      { on: "A", sql: `GRANT EXECUTE ON TYPE::dbo.L TO ${user};`, then: done },
      { on: "A", sql: asUser(declares), then: rows([0]) },
    ],
  },
  {
    title: "a variable of a table type inside a procedure needs EXECUTE on the type, too",
    rules: ["R"],
    source: `${tableTypes}; Ownership chains speak of objects only; Stack Overflow 2244217: 229 for a parameter's type`,
    setup: script(
      "CREATE TYPE dbo.L AS TABLE (i int NOT NULL PRIMARY KEY);",
      "CREATE PROCEDURE dbo.P AS BEGIN DECLARE @x dbo.L; SELECT COUNT(*) AS n FROM @x; END;",
      someone,
      mayCall,
    ),
    steps: [
      { on: "A", sql: asUser("EXEC dbo.P;"), then: fails(229) },
      { on: "A", sql: `GRANT EXECUTE ON TYPE::dbo.L TO ${user};`, then: done },
      { on: "A", sql: asUser("EXEC dbo.P;"), then: rows([0]) },
    ],
    unverified: "that a chain of one owner doesn't cover types",
  },
  {
    title: "EXECUTE AS inside a procedure ends with it",
    rules: ["R"],
    source: "EXECUTE AS (Transact-SQL), Remarks",
    setup: script(`CREATE PROCEDURE dbo.P AS EXECUTE AS USER = '${user}';`, someone),
    steps: [
      { on: "A", sql: "EXEC dbo.P; SELECT USER_NAME() AS n;", then: rows(["dbo"]) },
      { on: "A", sql: asUser("SELECT USER_NAME() AS n;"), then: rows([user]) },
      { on: "A", sql: "SELECT USER_NAME() AS n;", then: rows(["dbo"]) },
    ],
  },
  {
    title: "a caller that isn't an owner may not act as another user",
    rules: ["R"],
    source: "EXECUTE AS (Transact-SQL), Permissions",
    setup: someone,
    steps: [{ on: "A", sql: asUser("EXECUTE AS USER = 'dbo';"), then: fails(15517) }],
  },
  {
    title: "a right on what isn't there, or for nobody, is refused",
    rules: ["R"],
    source: "GRANT Object Permissions; error 15151",
    setup: script(threeRows, someone),
    steps: [
      { on: "A", sql: `GRANT EXECUTE ON OBJECT::dbo.None TO ${user};`, then: fails(15151) },
      { on: "A", sql: `GRANT EXECUTE ON TYPE::dbo.None TO ${user};`, then: fails(15151) },
      {
        on: "A",
        sql: "GRANT SELECT ON OBJECT::dbo.T TO TaskgateLitmusNobody;",
        then: fails(15151),
      },
      { on: "A", sql: `ALTER ROLE TaskgateLitmusNone ADD MEMBER ${user};`, then: fails(15151) },
    ],
  },
  {
    title: "the name of what somebody has no right to is hidden from them",
    rules: ["R"],
    source: "Metadata visibility configuration",
    setup: script(threeRows, someone),
    steps: [
      {
        on: "A",
        sql: asUser("SELECT CASE WHEN OBJECT_ID(N'dbo.T') IS NULL THEN 0 ELSE 1 END AS n;"),
        then: rows([0]),
      },
      { on: "A", sql: `GRANT SELECT ON OBJECT::dbo.T TO ${user};`, then: done },
      {
        on: "A",
        sql: asUser("SELECT CASE WHEN OBJECT_ID(N'dbo.T') IS NULL THEN 0 ELSE 1 END AS n;"),
        then: rows([1]),
      },
    ],
  },
  {
    title: "a caller that owns nothing makes nothing",
    rules: ["R"],
    source: "CREATE TABLE (Transact-SQL), Permissions; error 262",
    setup: someone,
    steps: [
      {
        on: "A",
        sql: asUser("CREATE TABLE dbo.X (Id int NOT NULL PRIMARY KEY);"),
        then: fails(262),
      },
    ],
  },
  {
    title: "ALTER on a sequence or on its schema restarts it; UPDATE, which takes numbers, doesn't",
    rules: ["R", "S"],
    source: "ALTER SEQUENCE (Transact-SQL), Permissions",
    setup: script(
      "CREATE SEQUENCE dbo.S AS bigint START WITH 1 INCREMENT BY 1;",
      someone,
      `GRANT UPDATE ON OBJECT::dbo.S TO ${user};`,
    ),
    steps: [
      { on: "A", sql: asUser("SELECT NEXT VALUE FOR dbo.S AS n;"), then: rows([1]) },
      { on: "A", sql: asUser("ALTER SEQUENCE dbo.S RESTART WITH 7;"), then: fails(15151) },
      { on: "A", sql: `GRANT ALTER ON SCHEMA::dbo TO ${user};`, then: done },
      { on: "A", sql: asUser("ALTER SEQUENCE dbo.S RESTART WITH 7;"), then: done },
      { on: "A", sql: asUser("ALTER SEQUENCE dbo.None RESTART WITH 7;"), then: fails(15151) },
      { on: "A", sql: `REVOKE ALTER ON SCHEMA::dbo FROM ${user};`, then: done },
      { on: "A", sql: asUser("SELECT NEXT VALUE FOR dbo.S AS n;"), then: rows([7]) },
    ],
  },
  {
    title: "the owner of a schema sets seeds there; ALTER and CONTROL on the table don't suffice",
    rules: ["R", "S"],
    source: "DBCC CHECKIDENT (Transact-SQL), Permissions",
    setup: script(
      "CREATE USER TaskgateLitmusOwner WITHOUT LOGIN;",
      "CREATE SCHEMA TaskgateLitmusOther AUTHORIZATION TaskgateLitmusOwner;",
      "CREATE TABLE TaskgateLitmusOther.T (Id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, V int NOT NULL);",
      someone,
    ),
    steps: [
      {
        on: "A",
        sql: `GRANT ALTER, CONTROL ON OBJECT::TaskgateLitmusOther.T TO ${user};`,
        then: done,
      },
      {
        on: "A",
        sql: asUser("DBCC CHECKIDENT (N'TaskgateLitmusOther.T', RESEED, 7);"),
        then: fails(2557),
      },
      {
        on: "A",
        sql: "EXECUTE AS USER = 'TaskgateLitmusOwner'; DBCC CHECKIDENT (N'TaskgateLitmusOther.T', RESEED, 7); REVERT;",
        then: done,
      },
      {
        on: "A",
        sql: "INSERT INTO TaskgateLitmusOther.T (V) VALUES (0); SELECT Id FROM TaskgateLitmusOther.T;",
        then: rows([7]),
      },
    ],
  },
];
