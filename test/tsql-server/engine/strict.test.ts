import { describe, expect, test } from "@jest/globals";
import { Bench } from "./bench";
import { engines } from "./options";
import type { EngineOptions } from "./options";

/* Modules under test: their plans must follow from their texts. */

const strict: EngineOptions = { ...engines.azure, strictSchemas: ["Strict"] };

const setup = `
CREATE SCHEMA Strict;
GO
CREATE TABLE Strict.T (
  Id bigint NOT NULL CONSTRAINT PK_T PRIMARY KEY CLUSTERED,
  Name nvarchar(20) COLLATE Latin1_General_100_BIN2 NOT NULL CONSTRAINT UQ_T_Name UNIQUE,
  Kind int NOT NULL,
  Code varchar(10) NOT NULL);
GO
CREATE INDEX IX_T_Kind ON Strict.T (Kind);
GO
CREATE INDEX IX_T_Code ON Strict.T (Code);`;

function fault(body: string): string {
  const bench = new Bench(
    `${setup}\nGO\nCREATE PROCEDURE Strict.P @n nvarchar(20), @i int, @b bigint AS ${body};`,
    strict,
  );
  try {
    bench.ask("EXEC Strict.P N'a', 1, 2;");
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : "?";
  }
}

describe("strict modules", () => {
  const allowed = [
    "SELECT t.Id FROM Strict.T AS t WHERE t.Id = @b",
    "SELECT t.Id FROM Strict.T AS t WHERE t.Id = @i",
    "SELECT t.Id FROM Strict.T AS t WHERE t.Name = @n",
    "SELECT t.Id FROM Strict.T AS t WITH (INDEX (IX_T_Kind)) WHERE t.Kind = @i",
    "SELECT t.Id FROM Strict.T AS t WITH (FORCESEEK) WHERE t.Kind = @i",
    "SELECT t.Id FROM Strict.T AS t WITH (INDEX (PK_T)) WHERE t.Code = CONVERT(varchar(10), @n)",
  ];

  test.each(allowed)("a strict module may hold %s", (body) => {
    expect(fault(body)).toBe("");
  });

  const refused: [string, RegExp][] = [
    [
      "SELECT t.Id FROM Strict.T AS t WHERE t.Kind = @i",
      /^Strict\.P \(setup:\d+\): Strict\.T is read through IX_T_Kind by the model's rule/,
    ],
    ["SELECT t.Id FROM Strict.T AS t", /expected a whole unique key/],
    [
      "SELECT t.Id FROM Strict.T AS t WITH (FORCESEEK) WHERE t.Kind = @i AND t.Code = 'a'",
      /expected a whole unique key/,
    ],
    [
      "SELECT t.Id FROM Strict.T AS t WITH (INDEX (IX_T_Code)) WHERE t.Code = @n",
      /the key column Strict\.T\.Code \(varchar\) would be converted to nvarchar/,
    ],
    [
      "SELECT t.Id FROM Strict.T AS t WITH (INDEX (IX_T_Kind)) WHERE t.Kind = @b",
      /the key column Strict\.T\.Kind \(int\) would be converted to bigint/,
    ],
    [
      "SELECT t.id FROM Strict.T AS t WHERE t.Id = @b",
      /t\.id is written t\.Id where it is declared/,
    ],
  ];

  test.each(refused)("%s is a fault", (body, message) => {
    expect(fault(body)).toMatch(message);
  });

  test("no CATCH sees it", () => {
    expect(
      fault("BEGIN TRY SELECT t.Id FROM Strict.T AS t; END TRY BEGIN CATCH END CATCH"),
    ).toMatch(/expected a whole/);
  });

  test("other schemas' modules, and plain batches, are as they like", () => {
    const bench = new Bench(
      `${setup}\nGO\nCREATE PROCEDURE dbo.P AS SELECT t.id FROM Strict.T AS t;`,
      strict,
    );
    expect(bench.errors("EXEC dbo.P; SELECT t.ID FROM Strict.T AS t WHERE t.Code = N'a';")).toEqual(
      [],
    );
  });
});
