import { quantile } from "../bench/measurement";
import { ruleNames, rules } from "./findings";
import type { Findings } from "./findings";
import type { Sample } from "./sample";

/** What a run shows, or not. */
export interface Verdict {
  readonly name: string;
  /** null: the run is too short to say. */
  readonly isGood: boolean | null;
  readonly text: string;
}

/** Growth is looked for after this part of a run, at most after half an hour: before, what is kept for a time still fills up. */
const warmUpShare = 1 / 4;
const warmUpMostMs = 1_800_000;
/** Fewer samples behind it say nothing. */
const samplesLeast = 9;
const growthMax = 1.2;
/** Sizes jump by pages and segments; a table of some pages may become one of some more. */
const bytesSpare = 1_048_576;
const rowsSpare = 2_000;
/** Of each table and index, for a task that waits. */
const waitingBytes = 1_024;
const memorySpare = 16 * 1_048_576;
const costMax = 1.2;
const hourMs = 3_600_000;

/** Kept for a day or longer by design: a run of some hours only sees them grow. Their bytes per row must not. */
export const keptForDays = [
  "operation",
  "task_execution",
  "batch",
  "wave",
  "wave_shard",
  "call_audit",
  "setting_audit",
  // Minutes go after 3 hours, the periods of which they become a part after 3 and 90 days.
  "statistic",
  "statistic_time",
] as const;

/** How growth is judged, for a report. */
export const growthRule =
  "Growth is judged by the medians of the first and the last third of the samples. A warm-up comes before: a quarter of the run, at most half an hour. " +
  `A size may grow by ${String(Math.round(100 * (growthMax - 1)))} % and 1 MiB, and in proportion to the tasks that wait or are kept. It may grow by 1 KiB for each more that waits. ` +
  `Some rows are kept for a day or longer by design, and may become more: ${keptForDays.join(", ")}. Their tables and indexes may grow in proportion to them.`;

/** All verdicts of a run. */
export function verdictsOf(samples: readonly Sample[], findings: Findings): Verdict[] {
  return [ledgerVerdict(findings), ...growthVerdicts(samples), claimVerdict(samples)];
}

/** All are good, or the run was too short for them. */
export function isGood(verdicts: readonly Verdict[]): boolean {
  return verdicts.every((verdict) => verdict.isGood !== false);
}

/** Nothing that must not be. */
export function ledgerVerdict(findings: Findings): Verdict {
  const broken = ruleNames.filter((rule) => findings.count(rule) > 0);
  const text =
    broken.length === 0
      ? `no violation of ${String(ruleNames.length)} rules`
      : broken
          .map((rule) => `${rule} (${rules[rule]}): ${String(findings.count(rule))} violations`)
          .join("; ");
  return { name: "ledger", isGood: broken.length === 0, text };
}

/** No growth beyond that of waiting and kept rows. */
export function growthVerdicts(samples: readonly Sample[]): Verdict[] {
  const parts = partsOf(samples);
  if (parts === null) {
    const text = "too few samples to judge growth";
    return [{ name: "growth", isGood: null, text }];
  }
  const unfinished: Figure = ({ waiting }) => waiting.unfinished;
  const load: Load = {
    ratio: Math.max(
      1,
      ratio(parts, ({ waiting, retained }) => waiting.unfinished + retained),
    ),
    moreWaiting: Math.max(0, medianOf(parts.last, unfinished) - medianOf(parts.first, unfinished)),
  };
  return [sizesVerdict(parts, load), rowsVerdict(parts, load), memoryVerdict(parts)];
}

/** Parts of a run whose claims are compared. */
const partLeastMs = 60_000;

/** Counted work of a claim against the first hour's; of a run of less than two hours, its last third against its first. */
export function claimVerdict(samples: readonly Sample[]): Verdict {
  const name = "claim cost";
  const known = samples.filter(({ claim }) => claim !== null);
  const lastMs = samples.at(-1)?.ranMs ?? 0;
  const partMs = lastMs >= 2 * hourMs ? hourMs : lastMs / 3;
  const costs: number[] = [];
  for (let fromMs = 0; fromMs < lastMs - partMs / 2; fromMs += partMs) {
    const part = known.filter(({ ranMs }) => ranMs > fromMs && ranMs <= fromMs + partMs);
    const blocks = part.map(({ claim }) => claim?.blocksPerCall ?? Number.NaN);
    if (blocks.length > 0) costs.push(quantile(blocks, 0.5));
  }
  const [first, ...later] = costs;
  // In the first minutes the tables have no lasting size yet.
  const isShort = partMs < partLeastMs;
  if (first === undefined || later.length === 0 || known.length < samplesLeast || isShort)
    return { name, isGood: null, text: "too few samples to judge the cost of a claim" };
  const worst = Math.max(...later) / first;
  const parts = costs.map((cost) => cost.toFixed(1)).join(", ");
  const text = `${worst.toFixed(2)} times that of the first part (at most ${String(costMax)}); pages per call, medians of parts of ${(partMs / 60_000).toFixed(0)} min: ${parts}`;
  return { name, isGood: worst <= costMax, text };
}

/** What has become more. */
interface Load {
  /** Of all tasks that wait or are kept. */
  readonly ratio: number;
  /** Tasks that wait. */
  readonly moreWaiting: number;
}

interface Parts {
  readonly first: readonly Sample[];
  readonly last: readonly Sample[];
}

/** First and last third of the samples after the warm-up; null: too few. */
function partsOf(samples: readonly Sample[]): Parts | null {
  const lastMs = samples.at(-1)?.ranMs ?? 0;
  const warmUpMs = Math.min(warmUpMostMs, lastMs * warmUpShare);
  const warm = samples.filter(({ ranMs }) => ranMs >= warmUpMs);
  if (warm.length < samplesLeast) return null;
  const third = Math.floor(warm.length / 3);
  return { first: warm.slice(0, third), last: warm.slice(-third) };
}

type Figure = (sample: Sample) => number;
const medianOf = (samples: readonly Sample[], figure: Figure): number =>
  quantile(samples.map(figure).filter(Number.isFinite), 0.5);
const ratio = ({ first, last }: Parts, figure: Figure): number =>
  medianOf(last, figure) / Math.max(1, medianOf(first, figure));

/** A figure that has grown further than it may, in words; null: it has not. */
function grownText(
  parts: Parts,
  {
    name,
    figure,
    mayGrow,
    spare,
  }: { name: string; figure: Figure; mayGrow: number; spare: number },
): string | null {
  const before = medianOf(parts.first, figure);
  const after = medianOf(parts.last, figure);
  const most = before * growthMax * mayGrow + spare;
  if (!(after > most)) return null;
  return `${name} from ${rounded(before)} to ${rounded(after)} (at most ${rounded(most)})`;
}

function sizesVerdict(parts: Parts, load: Load): Verdict {
  const spare = bytesSpare + load.moreWaiting * waitingBytes;
  const newest = parts.last.at(-1);
  const mayGrowOf = (table: string): number =>
    isKept(table)
      ? Math.max(
          1,
          ratio(parts, ({ tables }) => tables[table]?.live ?? 0),
        )
      : load.ratio;
  const tables = Object.keys(newest?.tables ?? {}).map((table) =>
    grownText(parts, {
      name: `table ${table}`,
      figure: (sample) => sample.tables[table]?.bytes ?? Number.NaN,
      mayGrow: mayGrowOf(table),
      spare,
    }),
  );
  const indexes = Object.entries(newest?.indexes ?? {}).map(([index, { table }]) =>
    grownText(parts, {
      name: `index ${index}`,
      figure: (sample) => sample.indexes[index]?.bytes ?? Number.NaN,
      mayGrow: mayGrowOf(table),
      spare,
    }),
  );
  const grown = [...tables, ...indexes];
  return growthOf("sizes of tables and indexes", grown, load.ratio);
}

function rowsVerdict(parts: Parts, load: Load): Verdict {
  const grown = Object.keys(parts.last.at(-1)?.tables ?? {})
    .filter((table) => !isKept(table))
    .flatMap((table) => [
      grownText(parts, {
        name: `rows of ${table}`,
        figure: ({ tables }) => tables[table]?.live ?? Number.NaN,
        mayGrow: load.ratio,
        spare: rowsSpare + load.moreWaiting,
      }),
      grownText(parts, {
        name: `dead rows of ${table}`,
        figure: ({ tables }) => tables[table]?.dead ?? Number.NaN,
        mayGrow: load.ratio,
        // Vacuum comes by count: every 50,000 of the largest table.
        spare: 50_000,
      }),
    ]);
  return growthOf("rows and dead rows", grown, load.ratio);
}

function memoryVerdict(parts: Parts): Verdict {
  const { elderHeap, elderRss, server } = memoryFigures;
  const figures = [
    { name: "heap of the undisturbed worker", figure: elderHeap, spare: memorySpare / 4 },
    { name: "memory of the undisturbed worker", figure: elderRss, spare: 2 * memorySpare },
    // Its shared memory is touched page by page.
    { name: "memory of the server", figure: server, spare: 8 * memorySpare },
    { name: "connections", figure: ({ connections }: Sample) => connections, spare: 5 },
  ];
  const grown = figures.map((each) => grownText(parts, { ...each, mayGrow: 1 }));
  return growthOf("memory and connections", grown, 1);
}

const memoryFigures = {
  elderHeap: ({ memory }: Sample) => memory.elderHeap ?? Number.NaN,
  elderRss: ({ memory }: Sample) => memory.elderRss ?? Number.NaN,
  server: ({ memory }: Sample) => memory.server ?? Number.NaN,
};

function growthOf(what: string, texts: readonly (string | null)[], load: number): Verdict {
  const grown = texts.filter((text) => text !== null);
  const text =
    grown.length === 0
      ? `${String(texts.length)} figures, none has grown beyond its bound (waiting and kept rows: ${load.toFixed(2)} times)`
      : `grown: ${grown.join("; ")}`;
  return { name: `growth of ${what}`, isGood: grown.length === 0, text };
}

function isKept(table: string): boolean {
  return (keptForDays as readonly string[]).includes(table);
}

function rounded(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
