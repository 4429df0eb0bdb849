// One PostgreSQL for all test files (embedded, or TASKGATE_TEST_POSTGRES_URL), with one migrated template database
// that each file clones.
require("./register-swc.cjs");
const { randomUUID } = require("node:crypto");
const { markRun } = require("./left-behind.cjs");

module.exports = async () => {
  markRun(randomUUID());
  const { startTestPostgres } = require("./test-postgres.ts");
  globalThis.__taskgateTestPostgres = await startTestPostgres();
  process.env.TASKGATE_TEST_POSTGRES = globalThis.__taskgateTestPostgres.url;
};
