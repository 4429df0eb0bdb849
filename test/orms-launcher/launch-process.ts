import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { startAzurite } from "../../shared/local/azurite";
import { findNode, packAndInstall } from "../bench/peers-launcher/install";
import { readOptions } from "../support/script-words";
import { startTestPostgres } from "../support/test-postgres";
import { judge } from "./judge";
import { parseOptions, usage } from "./options";
import type { SystemName, Told } from "./protocol";

/* npm run test:orms: an enqueue in the transactions of ORMs, each of its released version (docs/guides/orms.md). */

const root = join(__dirname, "../..");
const folder = join(root, "test/orms");

async function main(): Promise<number> {
  const options = readOptions(usage, parseOptions);
  if (!options.isInstalled) {
    packAndInstall(root, folder);
    generatePrisma();
  }
  const node = findNode(folder);
  const postgres = await startTestPostgres();
  process.env["TASKGATE_TEST_POSTGRES"] = postgres.url;
  const azurite = await startAzurite();
  let failed = 0;
  try {
    for (const system of options.only)
      failed += print(
        system,
        await judge(system, { folder, node, storage: azurite.connectionString }),
      );
  } finally {
    await azurite.stop();
    await postgres.stop();
  }
  return failed === 0 ? 0 : 1;
}

/** Its generator needs none of Prisma's binaries, but asks for their place, and would download one that has none. */
function generatePrisma(): void {
  const command = join(folder, "node_modules/prisma/build/index.js");
  const node = findNode(folder);
  execFileSync(node, [command, "generate", "--schema", join(folder, "schema.prisma")], {
    cwd: folder,
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: node, CHECKPOINT_DISABLE: "1" },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** How many checks failed. */
function print(system: SystemName, told: readonly Told[]): number {
  const failed = told.filter(({ problem }) => problem !== null);
  console.log(`${system}: ${told.length - failed.length} of ${told.length} checks passed`);
  for (const { check, problem } of failed) console.log(`  failed  ${check}\n${problem ?? ""}`);
  return failed.length;
}

// What the end of this process removes and ends stands in `exit` handlers; a signal alone calls none of them.
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
