import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { plantedText } from "../../source-texts/planted-text";
import { loadScript } from "../../tsql-server/engine/load";
import type { World } from "../../tsql-server/engine/world";
import { lifeFigures, measureLife, recordOfLife } from "./life";
import type { Situation } from "./situation";
import { worldWithGhosts } from "./measure";
import { tokenFigures } from "./token-figures";
import { testWhole } from "../../support/whole";

/*
 * What a task's life costs, and what calls cost when there are many tokens, scheduled or waiting tasks: counted in the model of
 * Azure SQL, so the same each time. `npm run costs:tsql -- --update` records it anew when a change is meant, better or worse.
 */

let measured: readonly Situation[] = [];
const patienceMs = 300_000;

beforeAll(async () => {
  measured = await measureLife("azure");
}, patienceMs);

const claim = "SELECT @vHeldCount = n.Held, @vRunningCount";
const commit = "      COMMIT TRANSACTION;";
const pass =
  "SELECT @vFreed = @vFreed + 0 * LEN(REPLICATE(CONVERT(nvarchar(max), N'x'), 9000)) FROM Taskgate.TaskDefinition AS d WHERE d.TaskDefinitionId = @vDefinition;";

/** Edits that cost more; what they cost is measured every night, their places are looked for in each run. */
const faults = {
  "one statement more": {
    procedure: "Work",
    edit: { from: claim, to: `SET @vCount = 0; ${claim}` },
  },
  "a pass under the lock": {
    procedure: "ReleaseTokens",
    edit: { from: commit, to: `      ${pass}\n${commit}` },
  },
} as const;

/** A world with one procedure edited. */
function plantedWorld(procedure: string, edit: { from: string; to: string }): World {
  const world = worldWithGhosts("azure");
  const file = `mssql/sql/procedures/${procedure}.sql`;
  loadScript(world, plantedText({ file, edits: [edit] }), file);
  return world;
}

function figureOf(situations: readonly Situation[], name: string, figure: string): number {
  const value = situations.find((one) => one.name === name)?.figures[figure];
  if (value === undefined) throw new Error(`${name}: ${figure} wasn't measured`);
  return value;
}

describe("the life of a task in T-SQL", () => {
  test("the life of a task costs what is recorded", () => {
    const recorded = readFileSync(join(__dirname, "expected-life.txt"), "utf8");
    expect(recordOfLife(measured)).toEqual(recorded.trimEnd().split("\n"));
  });

  test.each(Object.entries(faults))(
    "a planted fault of %s has its place in the procedure",
    (_, { procedure, edit }) => {
      expect(() => plantedWorld(procedure, edit)).not.toThrow();
    },
  );

  testWhole("a planted fault of one statement more in Work is found", async () => {
    const { procedure, edit } = faults["one statement more"];
    const world = plantedWorld(procedure, edit);
    const what = ["Work, completes 100 and claims 100", "statements"] as const;
    expect(figureOf(await lifeFigures(world), ...what)).toBe(figureOf(measured, ...what) + 1);
  });

  testWhole(
    "a planted fault of a pass over the tokens under the definition's lock is found",
    async () => {
      const { procedure, edit } = faults["a pass under the lock"];
      const world = plantedWorld(procedure, edit);
      const what = ["ReleaseTokens, 1,000 tokens", "under the lock"] as const;
      const planted = await tokenFigures(world, [1_000]);
      expect(figureOf(planted, ...what)).toBe(figureOf(measured, ...what) + 1);
    },
  );
});
