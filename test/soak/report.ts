import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { join } from "node:path";
import { format } from "oxfmt";
import { quantile } from "../bench/measurement";
import { ruleNames, rules } from "./findings";
import type { LedgerJudge } from "./judge";
import { kinds, leaseMs, sharedLimit } from "./plan";
import type { KindName } from "./plan";
import { plotsOf } from "./plots";
import type { RunState } from "./run-folder";
import type { Sample } from "./sample";
import { svgPlot } from "./svg-plot";
import { growthRule, isGood } from "./verdicts";
import type { Verdict } from "./verdicts";

/** What a report tells. */
export interface SoakResult {
  readonly state: RunState;
  readonly ranMs: number;
  readonly workers: number;
  readonly samples: readonly Sample[];
  readonly judge: LedgerJudge;
  readonly verdicts: readonly Verdict[];
}

const mebibyte = 2 ** 20;

/** Writes `soak.md` and its plots below `folder`. */
export async function writeReport(folder: string, result: SoakResult): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const plots = plotsOf(result.samples);
  for (const [name, plot] of plots) writeFileSync(join(folder, `soak-${name}.svg`), svgPlot(plot));
  const pictures = [...plots].map(([name, { title }]) => `![${title}](soak-${name}.svg)`);
  const { code } = await format("soak.md", reportText(result, pictures));
  writeFileSync(join(folder, "soak.md"), code);
}

function reportText(result: SoakResult, pictures: readonly string[]): string {
  const lines = [
    "# Soak",
    "",
    `${isGood(result.verdicts) ? "Nothing broken" : "BROKEN"}: ${durationOf(result.ranMs)} of load, ${legsText(result)}, ended ${dateOf(result)}.`,
    "",
    ...aboutRun(result),
    "",
    "## Verdicts",
    "",
    "| verdict | | figures |",
    "| --- | --- | --- |",
    ...result.verdicts.map(
      ({ name, isGood: good, text }) => `| ${name} | ${wordOf(good)} | ${text} |`,
    ),
    "",
    growthRule,
    "",
    "## The ledger",
    "",
    ...ledgerLines(result),
    "",
    "## Over time",
    "",
    ...hourTable(result.samples),
    "",
    ...pictures.flatMap((picture) => [picture, ""]),
    "## Sizes",
    "",
    ...sizeTable(result.samples),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

function aboutRun({ state, workers }: SoakResult): string[] {
  const { scale, happened } = state;
  const times = Object.entries(happened).map(([what, count]) => `${what} ${String(count)} times`);
  const shares = Object.entries(kinds)
    .filter(([, { share }]) => share > 0)
    .map(([name, { share }]) => `${name} ${String(share)} %`);
  return [
    `Made by \`npm run soak\` ([how](README.md#soak)): ${String(scale.rate)} tasks a second enqueued, ${String(workers)} worker processes, ` +
      `leases of ${String(leaseMs / 1_000)} s, finished tasks kept for ${String(Math.round(scale.retainMs / 1_000))} s; ` +
      `${String(cpus().length)} processors, ${(totalmem() / 2 ** 30).toFixed(0)} GiB, Node ${process.versions.node}, ` +
      "embedded PostgreSQL with durable commits on the same computer, which did other work, too.",
    "",
    `Load: ${shares.join(", ")}; a child of each parent, a schedule each minute. Workers were ${times.join(", ") || "left alone"}; one of them was never disturbed.`,
  ];
}

function ledgerLines({ judge }: SoakResult): string[] {
  const { acknowledged, begun, done, dead, redriven, unacknowledged } = judge.lives.counts;
  const limits = [...judge.limits.mostSeen]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, most]) => `${name} ${String(most)} of ${limitText(name)}`);
  return [
    `${thousands(acknowledged)} enqueues acknowledged, ${thousands(begun)} begins, ${thousands(done)} done, ${thousands(dead)} dead letters, ` +
      `${thousands(redriven)} redriven. ${thousands(Math.max(0, unacknowledged))} tasks ended whose enqueue had no answer.`,
    "",
    `The most that ran at a time: ${limits.join("; ")}.`,
    "",
    "| rule | violations | the first of them |",
    "| --- | ---: | --- |",
    ...ruleNames.map(
      (rule) =>
        `| ${rule}: ${rules[rule]} | ${String(judge.findings.count(rule))} | ${judge.findings.some(rule)[0] ?? ""} |`,
    ),
  ];
}

function limitText(name: string): string {
  if (name === sharedLimit.name) return String(sharedLimit.limit);
  return name === "group" ? "2 a group" : String(kinds[name as KindName].limit);
}

/** A row per hour; of short runs one per sixth. */
function hourTable(samples: readonly Sample[]): string[] {
  const lastMs = samples.at(-1)?.ranMs ?? 0;
  const partMs = lastMs > 5_400_000 ? 3_600_000 : lastMs / 6;
  const rows: string[] = [];
  for (let fromMs = 0; fromMs < lastMs; fromMs += partMs) {
    const part = samples.filter(({ ranMs }) => ranMs > fromMs && ranMs <= fromMs + partMs);
    if (part.length > 0) rows.push(hourRow(Math.min(lastMs, fromMs + partMs), part));
  }
  return [
    "Medians of the samples of a part.",
    "",
    "| until | latency p50 / p99, ms | claim: pages per call / per task | ms per call | rows per task | tasks waiting | oldest ready, s | dead rows | database, MiB | connections | worker, heap, server MiB |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows,
  ];
}

function hourRow(untilMs: number, part: readonly Sample[]): string {
  const median = (figure: (sample: Sample) => number | null | undefined, digits = 0): string => {
    const known = part.map(figure).filter((value) => typeof value === "number");
    return known.length === 0 ? "-" : quantile(known, 0.5).toFixed(digits);
  };
  const memory = (name: "elderRss" | "elderHeap" | "server"): string =>
    median((sample) => (sample.memory[name] ?? Number.NaN) / mebibyte);
  const cells = [
    durationOf(untilMs),
    `${median(({ latency }) => latency?.p50)} / ${median(({ latency }) => latency?.p99)}`,
    `${median(({ claim }) => claim?.blocksPerCall, 1)} / ${median(({ claim }) => claim?.blocksPerTask, 1)}`,
    median(({ claim }) => claim?.msPerCall, 2),
    median(({ claim }) => claim?.rowsPerTask, 1),
    median(({ waiting }) => waiting.unfinished),
    median(({ oldestReadyMs }) => oldestReadyMs / 1_000, 1),
    median(({ tables }) => Object.values(tables).reduce((sum, { dead }) => sum + dead, 0)),
    median(({ databaseBytes }) => databaseBytes / mebibyte),
    median(({ connections }) => connections),
    `${memory("elderRss")}, ${memory("elderHeap")}, ${memory("server")}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

function sizeTable(samples: readonly Sample[]): string[] {
  const [first] = samples.slice(Math.floor(samples.length / 4));
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return ["No sample was taken."];
  const kib = (bytes: number | undefined): string => thousands(Math.round((bytes ?? 0) / 1_024));
  const tables = Object.entries(last.tables).map(([name, now]) => {
    const before = first.tables[name];
    return `| ${name} | ${kib(before?.bytes)} | ${kib(now.bytes)} | ${thousands(before?.live ?? 0)} | ${thousands(now.live)} | ${thousands(now.dead)} |`;
  });
  const indexes = Object.entries(last.indexes).map(
    ([name, { bytes }]) => `| ${name} | ${kib(first.indexes[name]?.bytes)} | ${kib(bytes)} | | | |`,
  );
  return [
    "After a quarter of the run, and at its end.",
    "",
    "| table or index | KiB then | KiB at the end | rows then | rows at the end | dead rows at the end |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...tables,
    ...indexes,
  ];
}

function legsText({ state }: SoakResult): string {
  const legs = state.legs.length;
  if (legs <= 1) return "in one leg";
  const killed = state.legs.slice(0, -1).filter(({ isStopped }) => !isStopped).length;
  return `in ${String(legs)} legs (${String(killed)} of them ended by a kill)`;
}

function dateOf({ samples }: SoakResult): string {
  return new Date(samples.at(-1)?.atMs ?? 0).toISOString().slice(0, 10);
}

function wordOf(good: boolean | null): string {
  return good === null ? "not judged" : good ? "good" : "BROKEN";
}

function durationOf(ms: number): string {
  if (ms < 600_000) return `${(ms / 1_000).toFixed(0)} s`;
  return ms < 7_200_000 ? `${(ms / 60_000).toFixed(0)} min` : `${(ms / 3_600_000).toFixed(1)} h`;
}

function thousands(value: number): string {
  return value.toLocaleString("en-US");
}
