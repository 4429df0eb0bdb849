import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { engines } from "../shipped/engines";
import type { EngineName } from "../../tsql-server/engine/options";
import { installGlobals } from "../mutation/mini-runner";
import { measureLife, recordOfLife } from "./life";
import { formatCosts, measureAll, recordOf } from "./table";
import { readWords } from "../../support/script-words";

const usage = `npm run costs:tsql -- [--engine azure|versioned|locking] [--update]

Prints what each operation costs in the model of SQL Server; --update records that of azure as what the test expects.`;

const { values: options } = readWords(usage, {
  options: {
    engine: { type: "string", default: "azure" },
    update: { type: "boolean", default: false },
  },
});

async function main(): Promise<void> {
  installGlobals(); // contract files have examples of inputs
  const { engine } = options;
  if (!isEngine(engine)) throw new Error(`Expected azure, versioned or locking, got \`${engine}\``);
  const table = await measureAll(engine);
  console.log(formatCosts(table, process.stdout.isTTY ? process.stdout.columns : 260).join("\n"));
  const life = recordOfLife(await measureLife(engine));
  console.log(["", "Life of a task, and what much around it costs", ...life].join("\n"));
  if (options.update) {
    const recorded = engine === "azure" ? table : await measureAll("azure");
    writeFileSync(join(__dirname, "expected-costs.txt"), `${recordOf(recorded).join("\n")}\n`);
    const lived = engine === "azure" ? life : recordOfLife(await measureLife("azure"));
    writeFileSync(join(__dirname, "expected-life.txt"), `${lived.join("\n")}\n`);
  }
}

function isEngine(name: string): name is EngineName {
  return Object.hasOwn(engines, name);
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
