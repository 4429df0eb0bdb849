import { newSeed } from "../support/builders";
import { plantedBugs } from "./planted-bugs";
import { describeFailure } from "./report";
import { simulate } from "./simulation";
import { readWords } from "../support/script-words";

const usage = `npm run simulate:workers -- [--minutes N] [--seed S] [--runs N] [--bug NAME]

Runs the shipped worker on seed after seed, for so many minutes or runs, and stops at the first broken promise with the
command that shows it again. \`--bug\` plants a mistake, to see how it would look.`;

const { values } = readWords(usage, {
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    runs: { type: "string" },
    bug: { type: "string" },
  },
});

async function main(): Promise<number> {
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`Expected --minutes above 0, found ${values.minutes}`);
  const runs = values.runs === undefined ? Number.POSITIVE_INFINITY : Number(values.runs);
  const plant = plantedBugs.find((bug) => bug.name === values.bug) ?? null;
  if (plant === null && values.bug !== undefined)
    throw new Error(
      `There is no bug ${values.bug}; there are ${plantedBugs.map((bug) => bug.name).join(", ")}`,
    );
  const firstSeed = values.seed === undefined ? newSeed() : Number(values.seed);
  console.log(`first seed ${String(firstSeed)}`);
  const endMs = performance.now() + minutes * 60_000;
  const sums = { runs: 0, tasks: 0, calls: 0, events: 0, crashes: 0 };
  for (let seed = firstSeed; sums.runs < runs && performance.now() < endMs; seed += 1) {
    const result = await simulate(seed, plant);
    sums.runs += 1;
    sums.tasks += result.tasks;
    sums.calls += result.calls;
    sums.events += result.events;
    sums.crashes += result.crashes;
    if (result.violations.length > 0) {
      console.log(describeFailure(result, plant));
      return 1;
    }
  }
  console.log(
    `${String(sums.runs)} runs, ${String(sums.tasks)} tasks, ${String(sums.calls)} calls under a limit, ${String(sums.crashes)} dead hosts, ${String(sums.events)} events: every promise held`,
  );
  return 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
