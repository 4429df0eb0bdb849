import { newSeed } from "../../support/builders";
import { isWordError } from "./words";
import { jobsFor, runJob, shuffle, Tally } from "./simulate-jobs";
import { readWords } from "../../support/script-words";

const usage = `npm run simulate:tsql -- [--minutes N] [--case NAME] [--plans] [--seed N]

Cases that are too large for every run of the tests, each on every engine; all cases with the model's doubts decided the
other way; all cases on every other plan (--plans: only those, with a list of the waits then); and whether a search that
leaves orders out comes to the same ends as one that doesn't. Searched to the end
where that is possible within a minute, else by random orders of fresh seeds. A failure is printed with the command that
shows it again.`;

const jobMsMax = 60_000;

interface Words {
  readonly minutes: string;
  readonly case?: string;
  readonly plans: boolean;
  readonly seed?: string;
}

function readSimulation(): Words {
  return readWords(usage, {
    options: {
      minutes: { type: "string", default: "10" },
      case: { type: "string" },
      plans: { type: "boolean", default: false },
      seed: { type: "string" },
    },
  }).values;
}

function main(values: Words): number {
  const minutes = Number(values.minutes);
  if (!(minutes > 0))
    return refuse(`--minutes: expected a number above 0, found ${values.minutes}`);
  const seed = values.seed === undefined ? newSeed() : Number(values.seed);
  if (!Number.isSafeInteger(seed))
    return refuse(`--seed: expected a whole number, found ${values.seed ?? ""}`);
  const jobs = shuffle(
    jobsFor(values.case).filter(({ kind }) => !values.plans || kind === "plans"),
    seed,
  );
  if (jobs.length === 0) return refuse(`--case: there is none of the name ${values.case ?? ""}`);
  console.log(
    `${String(jobs.length)} searches, ${String(minutes)} minutes at most, seed ${String(seed)}`,
  );
  const endMs = performance.now() + minutes * 60_000;
  const tally = new Tally();
  let done = 0;
  for (const job of jobs) {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) break;
    showProgress(
      `${String(done + 1)} of ${String(jobs.length)}: ${job.model.name} (${job.variant.name})`,
    );
    const faults = runJob(job, { seed, msMax: Math.min(leftMs, jobMsMax) }, tally);
    if (faults.length > 0) showProgress("");
    for (const fault of faults) console.log(`${fault}\n`);
    done += 1;
  }
  showProgress("");
  if (values.plans) printPlans(tally);
  if (done < jobs.length) console.log(`the time is up: ${String(jobs.length - done)} not done`);
  console.log(`${tally.toString()} (seed ${String(seed)})`);
  return tally.failed === 0 ? 0 : 1;
}

function refuse(problem: string): number {
  console.error(problem);
  return 2;
}

function printPlans({ plansThatMatter }: Tally): void {
  for (const [name, { isAllowed, breaksPromise, problem, at }] of [...plansThatMatter].sort()) {
    const hint = breaksPromise ? "(a promise rests on the hint)" : "(a hint forbids it)";
    console.log(`${name}${isAllowed ? "" : ` ${hint}`}: ${problem}, in ${at}`);
  }
}

function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${text}`);
}

try {
  process.exitCode = main(readSimulation());
} catch (error) {
  if (!isWordError(error)) throw error;
  process.exitCode = refuse(error.message);
}
