import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { JsonValue, LocalSample, SampleFile, StoreTransaction } from "taskgate";
import { addTotals } from "./add-totals";
import { checkRow } from "./check-row";
import { listImportedEvents } from "./flight-store";
import { importFile } from "./import-file";
import { parseBlock } from "./parse-block";
import { plantedRows, plantRows } from "./planted-rows";
import { readResults } from "./results";

/** The file with the planted rows. */
const plantedName = "flights-2k-with-bad-rows.json";

/** The sample pipeline as `npm start` runs it: 22,000 flights and 3,376 airports of the npm package vega-datasets. */
export const sample: LocalSample = {
  title: "flights of vega-datasets: delays by origin, by hour, busiest routes",
  definitions: [importFile, parseBlock.definition, addTotals.definition, checkRow.definition],
  intakeDefinition: importFile.name,
  pacedDefinition: parseBlock.definition.name,
  expectedDeadLetters: plantedRows.map(({ row, problem }) => ({
    definition: checkRow.definition.name,
    contains: `${plantedName} row ${String(row)}.${problem}`,
  })),
  files: readFiles,
  accepts: (fileName) => /\.(json|csv)$/i.test(fileName),
  setUp,
  tearDown,
  importedEvents: listImportedEvents,
  results: readResults,
};

async function readFiles(): Promise<SampleFile[]> {
  const folder = findData();
  const read = (name: string): Promise<Buffer> => readFile(join(folder, name));
  const rows = JSON.parse((await read("flights-2k.json")).toString("utf8")) as JsonValue[];
  return [
    { name: "airports.csv", content: await read("airports.csv") },
    { name: "flights-20k.json", content: await read("flights-20k.json") },
    { name: plantedName, content: Buffer.from(JSON.stringify(plantRows(rows))) },
  ];
}

/** The package's `exports` hide its files from `require.resolve`, so its folder is looked for. */
function findData(): string {
  const folders = createRequire(__filename).resolve.paths("vega-datasets") ?? [];
  const found = folders
    .map((folder) => join(folder, "vega-datasets", "data"))
    .find((folder) => existsSync(join(folder, "flights-20k.json")));
  if (found !== undefined) return found;
  throw new Error(
    "The npm package vega-datasets, the sample's data, is not installed. Run `npm ci` (not with --omit=dev).",
  );
}

async function setUp(transaction: StoreTransaction): Promise<void> {
  const script = await readFile(join(__dirname, "sql", `${transaction.dialect}.sql`), "utf8");
  if (transaction.dialect === "postgres") {
    // Two at once would both find nothing and both create.
    await transaction.query("select pg_advisory_xact_lock(44, hashtext('flights'))");
    await transaction.query(script);
    return;
  }
  const [found] = await transaction.query("SELECT SCHEMA_ID(N'Flights') AS id;");
  const exists = found?.["id"] !== null;
  for (const batch of script.split(/^GO\s*$/m)) {
    const isSchema = /^CREATE SCHEMA/m.test(batch);
    if (batch.trim() !== "" && !(isSchema && exists)) await transaction.query(batch);
  }
}

async function tearDown(transaction: StoreTransaction): Promise<void> {
  if (transaction.dialect === "postgres") {
    await transaction.query("drop schema if exists flights cascade");
    return;
  }
  throw new Error(
    "On SQL Server the sample's tables are kept: remove the database to begin afresh.",
  );
}
