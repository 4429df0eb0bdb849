import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { createTestDatabase, withClient } from "../support/test-postgres";
import { startIngestion } from "./ingestion";
import { runProgram } from "./run-program";
it("x", async () => {
  const ingestion = await startIngestion();
  const db = await createTestDatabase();
  await withClient(db.url, (c) => c.query("create table effect (word text)"));
  const ended = await runProgram("pipeline-program.ts", { TASKGATE_DATABASE_URL: db.url, APPLICATIONINSIGHTS_CONNECTION_STRING: ingestion.connectionString, OTEL_TRACES_SAMPLER: "always_on" });
  require("fs").writeFileSync("/tmp/items.json", JSON.stringify(ingestion.items, null, 1));
  console.log(ended, ingestion.items.length);
  await ingestion.close(); await db.drop();
}, 60000);
