import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { sampleFolder } from "../support/sample";
import { runAlone } from "../tsql-server/schedule/step";
import { callOf } from "../tsql-server/engine/call";
import { loadScript } from "../tsql-server/engine/load";
import { shippedWorld } from "../tsql/shipped/shipped-world";

test("the sample's tables, procedures and views load and run beside the shipped T-SQL", () => {
  const world = shippedWorld();
  const connection = world.connect();
  const name = `${sampleFolder}/sql/mssql.sql`;
  loadScript(world, readFileSync(join(__dirname, "../..", name), "utf8"), name);
  const totals = {
    origin: "ABC",
    flights: 3,
    delay: 5,
    hours: [{ hour: 1, flights: 3, delay: 5 }],
    routes: [],
  };
  const { errors } = runAlone(
    connection,
    callOf(world, "Flights.AddTotals", { Totals: JSON.stringify(totals) }),
  );
  expect(errors).toEqual([]);
  const { rowSets } = runAlone(connection, {
    kind: "batch",
    sql: "SELECT * FROM Flights.HourTotal;",
  });
  expect(rowSets[0]?.rows).toEqual([["ABC", 1, 3n, 5n]]);
});
