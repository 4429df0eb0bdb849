import { byVersions } from "../litmus-case";
import type { RaceCase } from "../litmus-case";

/*
 * Deadlocks of real servers, from their reports, each with the cure that was found or proposed. Not taken: reports whose
 * circle goes through page locks (microsoft/durabletask-mssql issue 79, rundeck issue 6330) or a heap
 * (artiomchi/FlexLabs.Upsert issue 100), which the model doesn't have; and reports that don't tell the locks or the
 * statements of both sides (microsoft/durabletask-mssql issue 193, quartznet issues 1252 and 2745, db-scheduler issue 348).
 */

/** A report, as it was and cured. */
export interface PublishedDeadlock {
  readonly report: string;
  readonly asReported: RaceCase;
  readonly cured: RaceCase;
}

const lookupTable = `CREATE TABLE dbo.Tbl (
  CiKey int NOT NULL,
  NciKey int NOT NULL,
  Included int NOT NULL,
  Other int NOT NULL,
  CONSTRAINT PK_Tbl PRIMARY KEY CLUSTERED (CiKey) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO dbo.Tbl (CiKey, NciKey, Included, Other) VALUES (1, 1, 0, 10), (2, 2, 0, 20);`;

const organizations = `CREATE TABLE dbo.Organization (
  Id int NOT NULL,
  Name nvarchar(50) NOT NULL,
  CONSTRAINT PK_Organization PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));`;

const attributes = `CREATE TABLE dbo.Attribute (
  UserId int NOT NULL,
  AttributeId int NOT NULL,
  Name nvarchar(50) NOT NULL,
  Value int NOT NULL,
  CONSTRAINT PK_Attribute PRIMARY KEY CLUSTERED (UserId, AttributeId) WITH (ALLOW_PAGE_LOCKS = OFF),
  CONSTRAINT UQ_Attribute_Name UNIQUE NONCLUSTERED (UserId, Name) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO dbo.Attribute (UserId, AttributeId, Name, Value) VALUES (1, 1, N'country', 0), (1, 2, N'email', 0), (1, 3, N'mobile', 0);`;

function setAttribute(name: string, index: string): string {
  return `UPDATE a SET Value = 1 FROM dbo.Attribute AS a WITH (INDEX (${index})) WHERE a.UserId = 1 AND a.Name = N'${name}';`;
}

const queue = `CREATE TABLE dbo.Queue (
  RowVersion int NOT NULL,
  Expires int NOT NULL,
  CONSTRAINT PK_Queue PRIMARY KEY CLUSTERED (RowVersion) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_Queue_Expires ON dbo.Queue (Expires) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
INSERT INTO dbo.Queue (RowVersion, Expires) VALUES (1, 1), (2, 2);`;

const receive =
  "WITH Message AS (SELECT TOP (1) RowVersion, Expires FROM dbo.Queue WITH (UPDLOCK, READPAST, ROWLOCK, INDEX (PK_Queue)) ORDER BY RowVersion) DELETE FROM Message OUTPUT deleted.RowVersion;";

const instances = `CREATE TABLE dbo.Instances (
  TaskHub int NOT NULL,
  InstanceId int NOT NULL,
  RuntimeStatus nvarchar(20) NOT NULL,
  CONSTRAINT PK_Instances PRIMARY KEY CLUSTERED (TaskHub, InstanceId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO dbo.Instances (TaskHub, InstanceId, RuntimeStatus) VALUES (1, 10, N'Running'), (1, 20, N'Running');`;

function createInstance(id: number, hints: string): string {
  const key = `TaskHub = 1 AND InstanceId = ${String(id)}`;
  return `BEGIN TRANSACTION; DECLARE @status nvarchar(20); SELECT @status = RuntimeStatus FROM dbo.Instances WITH (${hints}) WHERE ${key}; IF @status IS NULL INSERT INTO dbo.Instances (TaskHub, InstanceId, RuntimeStatus) VALUES (1, ${String(id)}, N'Pending'); COMMIT;`;
}

const sagas = `CREATE TABLE dbo.Saga (
  CorrelationId int NOT NULL,
  State int NOT NULL,
  CONSTRAINT PK_Saga PRIMARY KEY CLUSTERED (CorrelationId) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO dbo.Saga (CorrelationId, State) VALUES (1, 0);`;

function handleMessage(hints: string): string {
  return `SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; DECLARE @state int; SELECT @state = State FROM dbo.Saga${hints} WHERE CorrelationId = 1; UPDATE dbo.Saga SET State = @state + 1 WHERE CorrelationId = 1; COMMIT;`;
}

/** Reports of deadlocks that the model shows, too. */
export const publishedDeadlocks: readonly PublishedDeadlock[] = [
  {
    report: "aboutsqlserver.com, Locking in Microsoft SQL Server (Part 18): key lookup deadlock",
    asReported: {
      title:
        "a read through an index that lacks a column, while a column that it includes is changed",
      rules: ["L4", "L22"],
      source: "aboutsqlserver.com, Part 18",
      setup: `${lookupTable}
GO
CREATE NONCLUSTERED INDEX IX_Tbl ON dbo.Tbl (NciKey) INCLUDE (Included) WITH (ALLOW_PAGE_LOCKS = OFF);`,
      callers: {
        A: ["UPDATE dbo.Tbl SET Included = Included + 1 WHERE CiKey = 1;"],
        B: ["SELECT Other FROM dbo.Tbl WITH (INDEX (IX_Tbl)) WHERE NciKey = 1;"],
      },
      deadlock: byVersions("possible", "never"),
    },
    cured: {
      title: "an index that has the column, too: no lookup",
      rules: ["L4"],
      source: "aboutsqlserver.com, Part 18: covering indexes",
      setup: `${lookupTable}
GO
CREATE NONCLUSTERED INDEX IX_Tbl ON dbo.Tbl (NciKey) INCLUDE (Included, Other) WITH (ALLOW_PAGE_LOCKS = OFF);`,
      callers: {
        A: ["UPDATE dbo.Tbl SET Included = Included + 1 WHERE CiKey = 1;"],
        B: ["SELECT Other FROM dbo.Tbl WITH (INDEX (IX_Tbl)) WHERE NciKey = 1;"],
      },
      deadlock: "never",
    },
  },
  {
    report: "MemberJunction/MJ issue 4550: insert, then read back",
    asReported: {
      title: "each has inserted a row and reads its own back by a scan that meets the other's",
      rules: ["L6", "L22"],
      source:
        "MemberJunction/MJ issue 4550: X on the own row, S wanted on the other's, PK_Organization",
      setup: organizations,
      callers: {
        A: [
          "BEGIN TRANSACTION; INSERT INTO dbo.Organization (Id, Name) VALUES (1, N'a'); SELECT Id FROM dbo.Organization WITH (INDEX (PK_Organization)) WHERE Name = N'a'; COMMIT;",
        ],
        B: [
          "BEGIN TRANSACTION; INSERT INTO dbo.Organization (Id, Name) VALUES (2, N'b'); SELECT Id FROM dbo.Organization WITH (INDEX (PK_Organization)) WHERE Name = N'b'; COMMIT;",
        ],
      },
      deadlock: byVersions("possible", "never"),
    },
    cured: {
      title: "reading back by the key",
      rules: ["L6"],
      source: "MemberJunction/MJ issue 4550",
      setup: organizations,
      callers: {
        A: [
          "BEGIN TRANSACTION; INSERT INTO dbo.Organization (Id, Name) VALUES (1, N'a'); SELECT Name FROM dbo.Organization WHERE Id = 1; COMMIT;",
        ],
        B: [
          "BEGIN TRANSACTION; INSERT INTO dbo.Organization (Id, Name) VALUES (2, N'b'); SELECT Name FROM dbo.Organization WHERE Id = 2; COMMIT;",
        ],
      },
      deadlock: "never",
      wait: "never",
    },
  },
  {
    report:
      "wso2/product-is issue 21302, wso2/carbon-kernel pull request 4624: attributes of one user",
    asReported: {
      title: "updates of different attributes, each reading all of the user's rows",
      rules: ["L11", "L22"],
      source: "wso2/carbon-kernel pull request 4624: the name of an attribute is in no key",
      setup: attributes,
      engines: ["locking", "versioned"],
      callers: {
        A: [
          `BEGIN TRANSACTION; ${setAttribute("mobile", "PK_Attribute")} ${setAttribute("email", "PK_Attribute")} COMMIT;`,
        ],
        B: [
          `BEGIN TRANSACTION; ${setAttribute("email", "PK_Attribute")} ${setAttribute("country", "PK_Attribute")} COMMIT;`,
        ],
      },
      deadlock: "possible",
    },
    cured: {
      title: "an index that has the name in its key",
      rules: ["L11"],
      source: "wso2/carbon-kernel pull request 4624",
      setup: attributes,
      callers: {
        A: [
          `BEGIN TRANSACTION; ${setAttribute("mobile", "UQ_Attribute_Name")} ${setAttribute("email", "UQ_Attribute_Name")} COMMIT;`,
        ],
        B: [
          `BEGIN TRANSACTION; ${setAttribute("email", "UQ_Attribute_Name")} ${setAttribute("country", "UQ_Attribute_Name")} COMMIT;`,
        ],
      },
      deadlock: "never",
    },
  },
  {
    report: "Particular/NServiceBus.SqlServer issue 308, pull request 314: receive against purge",
    asReported: {
      title: "one deletes by the clustered key, the other finds what has expired through the index",
      rules: ["L11", "L22"],
      source: "Particular/NServiceBus.SqlServer pull request 314",
      setup: queue,
      engines: ["locking", "versioned"],
      callers: {
        A: [receive],
        B: ["DELETE q FROM dbo.Queue AS q WITH (INDEX (IX_Queue_Expires)) WHERE q.Expires < 2;"],
      },
      deadlock: "possible",
    },
    cured: {
      title: "the purge finds without locks and deletes by the clustered key",
      rules: ["L6", "L11"],
      source: "Particular/NServiceBus.SqlServer pull request 314",
      setup: queue,
      engines: ["locking", "versioned"],
      callers: {
        A: [receive],
        B: [
          "DECLARE @found TABLE (RowVersion int NOT NULL PRIMARY KEY CLUSTERED); INSERT INTO @found (RowVersion) SELECT RowVersion FROM dbo.Queue WITH (NOLOCK, INDEX (IX_Queue_Expires)) WHERE Expires < 2; DELETE q FROM @found AS f INNER JOIN dbo.Queue AS q ON q.RowVersion = f.RowVersion;",
        ],
      },
      deadlock: "never",
    },
  },
  {
    report: "microsoft/durabletask-mssql issue 217: creating instances",
    asReported: {
      title: "two look for a missing instance under HOLDLOCK and then insert it",
      rules: ["L2", "L7", "L22"],
      source: "microsoft/durabletask-mssql issue 217: dt.CreateInstance",
      setup: instances,
      callers: {
        A: [createInstance(15, "HOLDLOCK")],
        B: [createInstance(15, "HOLDLOCK")],
      },
      deadlock: "possible",
    },
    cured: {
      title: "the same with UPDLOCK: the second waits where it looks",
      rules: ["L2", "L10"],
      source: "Transaction locking and row versioning guide: RangeS-U",
      setup: instances,
      callers: {
        A: [createInstance(15, "UPDLOCK, HOLDLOCK")],
        B: [createInstance(15, "UPDLOCK, HOLDLOCK")],
      },
      deadlock: "never",
      end: {
        sql: "SELECT InstanceId FROM dbo.Instances WITH (INDEX (PK_Instances)) ORDER BY InstanceId;",
        rows: [[[10], [15], [20]]],
      },
    },
  },
  {
    report: "MassTransit/MassTransit issue 591: updates of one saga",
    asReported: {
      title: "two messages for one saga at SERIALIZABLE: both read, then both want to write",
      rules: ["L6", "L22"],
      source: "MassTransit/MassTransit issue 591: waits for X at serializable",
      setup: sagas,
      callers: { A: [handleMessage("")], B: [handleMessage("")] },
      deadlock: "possible",
      end: { sql: "SELECT State FROM dbo.Saga WHERE CorrelationId = 1;", rows: [[[2]]] },
    },
    cured: {
      title: "the same with UPDLOCK",
      rules: ["L10"],
      source: "Transaction locking and row versioning guide: update locks",
      setup: sagas,
      callers: {
        A: [handleMessage(" WITH (UPDLOCK, ROWLOCK)")],
        B: [handleMessage(" WITH (UPDLOCK, ROWLOCK)")],
      },
      deadlock: "never",
      end: { sql: "SELECT State FROM dbo.Saga WHERE CorrelationId = 1;", rows: [[[2]]] },
    },
  },
];
