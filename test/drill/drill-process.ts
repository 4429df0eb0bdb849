import { newSeed } from "../support/builders";
import { openContention } from "../support/contention";
import { startTestPostgres } from "../support/test-postgres";
import { runDrill } from "./drill";
import type { DrillReport } from "./drill";
import { readWords } from "../support/script-words";

const usage = `npm run drill -- [--seconds N] [--seed N]

All operations at once, at random, on few rows of PostgreSQL, from 13 connections; by default a minute with a fresh seed.
Ends with 1 when there was a deadlock, a finding, or a task that didn't come to its end. Waits for locks of more than
100 ms are listed; on a machine that has other things to do they may be the processor's.`;

const { values } = readWords(usage, {
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } },
});

async function main(): Promise<number> {
  const seed = values.seed === undefined ? newSeed() : Number(values.seed);
  const ms = Number(values.seconds) * 1_000;
  if (!(ms > 0) || !Number.isInteger(seed))
    throw new Error("Expected --seconds and --seed to be numbers above 0");
  const server = await startTestPostgres();
  process.env["TASKGATE_TEST_POSTGRES"] = server.url;
  const scene = await openContention();
  try {
    console.log(`${values.seconds} s with seed ${String(seed)}`);
    const report = await runDrill(scene, { seed, ms });
    const { findings } = await scene.openStore(1).checkInvariants();
    show(report);
    for (const finding of findings) console.log("broken:", finding);
    const isGood = report.deadlocks === 0 && report.left.length === 0 && findings.length === 0;
    return isGood ? 0 : 1;
  } finally {
    await scene.close();
    await server.stop();
  }
}

function show({ turns, seen, deadlocks, longWaits, left }: DrillReport): void {
  console.log(`${String(turns)} turns, ${String(deadlocks)} deadlocks`);
  const counts = [...seen].sort(([a], [b]) => a.localeCompare(b));
  console.log(counts.map(([what, times]) => `${what} ${String(times)}`).join(", "));
  console.log(`${String(longWaits.length)} waits for locks of more than 100 ms`);
  for (const wait of longWaits.slice(0, 20)) console.log(wait);
  for (const task of left) console.log("not at its end:", task);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(2);
  },
);
