import { beforeEach, describe, expect, test } from "@jest/globals";
import { Bench } from "./bench";
import { engines } from "./options";

/* The switch `rowsBackwards`: what no ORDER BY promises comes the other way round, and what one promises stays. */

const setup = `
CREATE TABLE dbo.T (Id int NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED, A int NOT NULL);
GO
CREATE TABLE dbo.I (Id int IDENTITY(1, 1) NOT NULL PRIMARY KEY, TId int NOT NULL);
GO
INSERT INTO dbo.T (Id, A) VALUES (1, 7), (2, 7), (3, 5);`;

let bench: Bench;

beforeEach(() => {
  bench = new Bench(setup, { ...engines.azure, rowsBackwards: true });
});

describe("rows that come backwards", () => {
  test.each([
    ["of a table", "SELECT Id FROM dbo.T;", [[3], [2], [1]]],
    ["behind a condition", "SELECT Id FROM dbo.T WHERE A = 7;", [[2], [1]]],
    ["of a list", "SELECT v.N FROM (VALUES (1), (2)) AS v (N) WHERE v.N > 0;", [[2], [1]]],
    ["that a sort finds equal", "SELECT Id FROM dbo.T ORDER BY A;", [[3], [2], [1]]],
    [
      "of groups",
      "SELECT A, COUNT(*) FROM dbo.T GROUP BY A;",
      [
        [5, 1],
        [7, 2],
      ],
    ],
    ["in a text", "SELECT STRING_AGG(CONVERT(nvarchar(9), Id), N',') FROM dbo.T;", [["3,2,1"]]],
  ])("the rows that come backwards are rows %s", (_, statement, rows) => {
    expect(bench.rows(statement)).toEqual(rows);
  });

  test.each([
    ["an ORDER BY", "SELECT Id FROM dbo.T ORDER BY Id;", [[1], [2], [3]]],
    [
      "an ORDER BY inside a text",
      "SELECT STRING_AGG(CONVERT(nvarchar(9), Id), N',') WITHIN GROUP (ORDER BY Id) FROM dbo.T;",
      [["1,2,3"]],
    ],
    ["a TOP, whose locks depend on it", "SELECT TOP (1) Id FROM dbo.T;", [[1]]],
  ])("the rows that come backwards aren't those of %s", (_, statement, rows) => {
    expect(bench.rows(statement)).toEqual(rows);
  });

  test.each([
    ["without an order", "SELECT TOP (1) Id FROM dbo.T;", [[3]]],
    [
      "with an order of which several rows are the first",
      "SELECT TOP (1) Id FROM dbo.T ORDER BY A DESC;",
      [[2]],
    ],
    ["with an order that an index has", "SELECT TOP (2) Id FROM dbo.T ORDER BY Id;", [[1], [2]]],
    ["inside a condition", "SELECT A FROM dbo.T WHERE Id = (SELECT TOP (1) Id FROM dbo.T);", [[5]]],
  ])("the rows of a TOP %s come backwards where the switch says so, too", (_, statement, rows) => {
    const other = new Bench(setup, { ...engines.azure, rowsBackwards: true, topsBackwards: true });
    expect(other.rows(statement)).toEqual(rows);
  });

  test("the rows that come backwards give the last row to a variable that each row is assigned to", () => {
    expect(bench.rows("DECLARE @a int; SELECT @a = Id FROM dbo.T; SELECT @a;")).toEqual([[1]]);
  });

  test("the rows that come backwards are inserted in that order, unless the insert orders them", () => {
    bench.ask("INSERT INTO dbo.I (TId) SELECT Id FROM dbo.T;");
    expect(bench.rows("SELECT TId FROM dbo.I ORDER BY Id;")).toEqual([[3], [2], [1]]);
    bench.ask("INSERT INTO dbo.I (TId) SELECT Id FROM dbo.T ORDER BY Id;");
    expect(bench.rows("SELECT TId FROM dbo.I WHERE Id > 3 ORDER BY Id;")).toEqual([[1], [2], [3]]);
  });
});
