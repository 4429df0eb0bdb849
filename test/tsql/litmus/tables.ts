/** Tables of the litmus tests. Keys are whole numbers, and rows are locked, not pages: as in the tables that are shipped.
 * A batch is compiled as a whole, so an object is made in a batch before its use. */

/** dbo.T: Id is the key, V has no index; rows 1, 2, 3 with V 10, 20, 30. */
export const threeRows = `CREATE TABLE dbo.T (
  Id int NOT NULL,
  V int NOT NULL,
  CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO dbo.T (Id, V) VALUES (1, 10), (2, 20), (3, 30);`;

/** dbo.T with the keys 10, 20, 30: gaps to insert into. */
export const gappedRows = `CREATE TABLE dbo.T (
  Id int NOT NULL,
  V int NOT NULL,
  CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
INSERT INTO dbo.T (Id, V) VALUES (10, 1), (20, 2), (30, 3);`;

/** dbo.T with IX_T_K on K, which doesn't cover V; rows 1, 2, 3 with K 1, 2, 3 and V 10, 20, 30. */
export const indexedRows = `CREATE TABLE dbo.T (
  Id int NOT NULL,
  K int NOT NULL,
  V int NOT NULL,
  CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE NONCLUSTERED INDEX IX_T_K ON dbo.T (K) WITH (ALLOW_PAGE_LOCKS = OFF);
GO
INSERT INTO dbo.T (Id, K, V) VALUES (1, 1, 10), (2, 2, 20), (3, 3, 30);`;

/** dbo.T with a unique index on K among rows of State 1; rows 1, 2, 3 of State 0, all with K 7. */
export const filteredRows = `CREATE TABLE dbo.T (
  Id int NOT NULL,
  K int NOT NULL,
  State int NOT NULL,
  CONSTRAINT PK_T PRIMARY KEY CLUSTERED (Id) WITH (ALLOW_PAGE_LOCKS = OFF));
GO
CREATE UNIQUE NONCLUSTERED INDEX UX_T_K ON dbo.T (K) WHERE State = 1 WITH (ALLOW_PAGE_LOCKS = OFF);
GO
INSERT INTO dbo.T (Id, K, State) VALUES (1, 7, 0), (2, 7, 0), (3, 7, 0);`;
