import type { Job, Report } from "./jobs";
import { readSources } from "./source";
import { Trial } from "./trial";

/* One of the processes of `npm run mutate:tsql`: gets mutants from its parent, one after the other, and answers verdicts. */

async function main(): Promise<void> {
  const sources = readSources();
  const trial = await Trial.prepare(sources, process.argv[2] === "quick" ? "quick" : "full");
  process.on("message", (message) => {
    const job = message as Job;
    const source = sources.find(({ name }) => name === job.file);
    if (source === undefined) throw new Error(`There is no file ${job.file}`);
    trial.try({ ...job, source }, job.isExplained).then((verdict) => {
      tell({ kind: "verdict", verdict });
    }, end);
  });
  // A test that a mutant fails early leaves calls behind without a waiter.
  process.on("unhandledRejection", () => undefined);
  tell({ kind: "ready", known: trial.known });
}

function tell(report: Report): void {
  process.send?.(report);
}

function end(error: unknown): void {
  console.error(error);
  process.exit(1);
}

main().catch(end);
