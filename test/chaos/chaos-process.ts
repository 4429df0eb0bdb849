import { writeFile } from "node:fs/promises";
import { readOptions } from "./options";
import type { ChaosOrder } from "./options";
import { plantRow, reportOf } from "./report";
import { runChaos } from "./run-chaos";

const foundMostMs = 60_000;
const end = new AbortController();
const { signal } = end;

async function main(order: ChaosOrder): Promise<number> {
  console.log(`chaos: ${String(order.minutes)} min with seed ${String(order.seed)}`);
  const { text, isGood } = order.plants.length > 0 ? await plantAll(order) : await runOnce(order);
  console.log(text);
  if (order.report !== null) await writeFile(order.report, text);
  return isGood ? 0 : 1;
}

async function runOnce(order: ChaosOrder): Promise<{ text: string; isGood: boolean }> {
  const result = await runChaos(order, { onProgress: progress, signal });
  return { text: reportOf(result), isGood: result.verdict.isGood };
}

async function plantAll(order: ChaosOrder): Promise<{ text: string; isGood: boolean }> {
  const rows: string[] = [];
  let isGood = true;
  for (const plant of order.plants) {
    const result = await runChaos(
      { ...order, minutes: 1.5 },
      { plant, onProgress: progress, signal },
    );
    isGood &&= result.foundMs !== null && result.foundMs <= foundMostMs;
    rows.push(plantRow(result));
    console.log(rows.at(-1));
  }
  const head = [
    "| planted fault | found after | by | the first finding |",
    "| --- | --- | --- | --- |",
  ];
  return { text: [...head, ...rows].join("\n"), isGood };
}

function progress(line: string): void {
  console.log(line);
}

// Frozen hosts and the server must not stay behind.
for (const name of ["SIGINT", "SIGTERM"] as const)
  process.on(name, () => {
    end.abort(new Error(`ended by ${name}`));
  });

main(readOptions()).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(2);
  },
);
