import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { choose, keepSurvivors, readOwnEdits } from "./choice";
import { formatCoverage } from "./coverage";
import { isListed, judge, readEquivalents } from "./equivalents";
import type { Equivalent, Judged } from "./equivalents";
import { runJobs } from "./jobs";
import { listMutants } from "./mutants";
import { numberMutants, toEdit } from "./numbered-mutant";
import type { NumberedMutant } from "./numbered-mutant";
import type { ShippedRun } from "./passes";
import { ProgressLine } from "./progress";
import { formatEntries, formatReport, scoreOf } from "./report";
import { readSources } from "./source";
import type { Outcome, Verdict } from "./verdict";
import { readWords } from "../../support/script-words";

const usage = `npm run mutate:tsql -- [--file NAME]... [--kind KIND]... [--sample M --seed N] [--try FILE] [--from FILE] [--quick] [--again]
  [--jobs N] [--json FILE] [--list]

Makes every systematic edit of the shipped T-SQL and says which of them the suite notices. --sample takes so many of
unjudged ones; --try takes own edits, [{"file": .., "from": .., "to": ..}]; --from the survivors in a file that --json
wrote; --quick leaves slow tests out; --again tries what known-survivors explains as hard as the rest; --list tries nothing and shows the edits that
known-survivors explains. Ctrl-C ends it with the results so far; --json has them all along. Ends with 1 when a survivor isn't explained in known-survivors, an entry there is
out of date, or the shipped files fail tests.`;

const { values: options } = readWords(usage, {
  options: {
    file: { type: "string", multiple: true, default: [] },
    kind: { type: "string", multiple: true, default: [] },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    try: { type: "string" },
    from: { type: "string" },
    quick: { type: "boolean", default: false },
    again: { type: "boolean", default: false },
    jobs: { type: "string", default: String(Math.min(2, availableParallelism())) },
    json: { type: "string" },
    list: { type: "boolean", default: false },
  },
});

/** Hours of work are not lost with the process. */
const writeEveryMs = 30_000;

async function main(): Promise<number> {
  const entries = readEquivalents();
  const sources = readSources();
  const all = numberMutants(sources.flatMap(listMutants));
  const chosen = chooseAll(all, entries);
  if (options.list) {
    const edits = chosen.map((numbered) => ({ ...toEdit(numbered), line: numbered.mutant.line }));
    console.log(formatEntries(edits, entries).join("\n"));
    return 0;
  }
  const own = options.try === undefined ? [] : readOwnEdits(sources, options.try);
  if (chosen.length + own.length === 0) throw new Error("No edit fits: see --file and --kind");
  return await tryAll([...own, ...chosen], all, entries);
}

/** Own edits alone, unless something else is asked for, too. */
function chooseAll(
  all: readonly NumberedMutant[],
  entries: readonly Equivalent[],
): NumberedMutant[] {
  const { file: files, kind: kinds, sample, seed } = options;
  const isAsked = files.length > 0 || kinds.length > 0 || sample !== undefined;
  if (options.try !== undefined && !isAsked) return [];
  const max = sample === undefined ? undefined : Number(sample);
  const offered = options.from === undefined ? all : keepSurvivors(all, options.from);
  return choose(offered, { files, kinds, sample: max, seed }, (edit) => isListed(edit, entries));
}

async function tryAll(
  chosen: readonly NumberedMutant[],
  all: readonly NumberedMutant[],
  entries: readonly Equivalent[],
): Promise<number> {
  const bar = new ProgressLine(chosen.length);
  const verdicts = new Map<number, Verdict>();
  let known: ShippedRun = { covers: [], failures: [] };
  const jobs = chosen.map((numbered) => {
    const { source, kind, line, edits, statementId } = numbered.mutant;
    const isExplained = !options.again && isListed(toEdit(numbered), entries);
    return { file: source.name, kind, line, edits, statementId, isExplained };
  });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      stop.abort();
    });
  }
  const how = {
    processes: Number(options.jobs),
    depth: options.quick ? "quick" : "full",
    signal: stop.signal,
  } as const;
  const judgeSoFar = (): Judged => {
    const outcomes = chosen.flatMap((numbered, index): Outcome[] => {
      const verdict = verdicts.get(index);
      return verdict === undefined ? [] : [toOutcome(numbered, verdict)];
    });
    return judge(outcomes, all.map(toEdit), entries);
  };
  const write = (judged: Judged): void => {
    if (options.json === undefined) return;
    const score = scoreOf(judged);
    writeFileSync(options.json, `${JSON.stringify({ score, ...judged, ...known }, null, 2)}\n`);
  };
  let writtenAtMs = performance.now();
  await runJobs(jobs, how, {
    onReady: (found) => {
      known = found;
    },
    onVerdict: (index, verdict) => {
      verdicts.set(index, verdict);
      bar.show(verdicts);
      if (performance.now() - writtenAtMs < writeEveryMs) return;
      writtenAtMs = performance.now();
      write(judgeSoFar());
    },
  });
  bar.end();
  const judged = judgeSoFar();
  write(judged);
  const width = process.stdout.isTTY ? process.stdout.columns : 120;
  const failed = known.failures.map(
    (failure) => `  ${failure.replaceAll(/\s+/g, " ").slice(0, 300)}`,
  );
  const lines = [
    ...formatReport(judged, width),
    "",
    ...formatCoverage(known.covers, width),
    ...(failed.length === 0 ? [] : ["", "Tests that the shipped files fail: left out", ...failed]),
  ];
  console.log(lines.join("\n"));
  return judged.unexplained.length + judged.stale.length + failed.length > 0 ? 1 : 0;
}

function toOutcome(numbered: NumberedMutant, verdict: Verdict): Outcome {
  const { line, kind } = numbered.mutant;
  return { ...toEdit(numbered), line, kind, verdict };
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  },
);
