import type { Sample } from "./sample";
import type { Plot, Series } from "./svg-plot";

const hourMs = 3_600_000;
const minuteMs = 60_000;
const mebibyte = 2 ** 20;
const shownTables = 5;

/** The plots of a report, by the end of their file's name. */
export function plotsOf(samples: readonly Sample[]): ReadonlyMap<string, Plot> {
  const isShort = (samples.at(-1)?.ranMs ?? 0) < 2 * hourMs;
  const xUnit = isShort ? "minutes of load" : "hours of load";
  const unitMs = isShort ? minuteMs : hourMs;
  const plot = (title: string, yUnit: string, series: readonly Series[]): Plot => ({
    ...{ title, xUnit, yUnit, series },
  });
  const of = (name: string, figure: (sample: Sample) => number | null): Series => ({
    name,
    points: samples.map((sample) => [sample.ranMs / unitMs, figure(sample)] as const),
  });
  const memory = plot("Memory", "MiB", [
    of("server", ({ memory: { server } }) => inMiB(server)),
    of("undisturbed worker", ({ memory: { elderRss } }) => inMiB(elderRss)),
    of("its heap after a collection", ({ memory: { elderHeap } }) => inMiB(elderHeap)),
  ]);
  const sizes = plot("The largest tables, with their indexes", "MiB", largest(samples, of));
  const rows = plot("Dead rows, and tasks that wait", "rows", [
    of("dead rows of all tables", ({ tables }) =>
      Object.values(tables).reduce((sum, { dead }) => sum + dead, 0),
    ),
    of("tasks that haven't ended", ({ waiting }) => waiting.unfinished),
    of("of them ready", ({ waiting }) => waiting.ready),
  ]);
  const latency = plot("From enqueue to handler", "ms", [
    of("p99", ({ latency: known }) => known?.p99 ?? null),
    of("p50", ({ latency: known }) => known?.p50 ?? null),
  ]);
  const claim = plot("Pages read by a claim", "pages", [
    of("per call", ({ claim: known }) => known?.blocksPerCall ?? null),
    of("per task", ({ claim: known }) => known?.blocksPerTask ?? null),
  ]);
  return new Map(Object.entries({ memory, sizes, rows, latency, claim }));
}

function largest(
  samples: readonly Sample[],
  of: (name: string, figure: (sample: Sample) => number | null) => Series,
): Series[] {
  const bytesOf = (sample: Sample, table: string): number =>
    (sample.tables[table]?.bytes ?? 0) +
    Object.values(sample.indexes)
      .filter((index) => index.table === table)
      .reduce((sum, { bytes }) => sum + bytes, 0);
  const newest = samples.at(-1);
  if (newest === undefined) return [];
  return Object.keys(newest.tables)
    .sort((a, b) => bytesOf(newest, b) - bytesOf(newest, a))
    .slice(0, shownTables)
    .map((table) => of(table, (sample) => bytesOf(sample, table) / mebibyte));
}

function inMiB(bytes: number | null): number | null {
  return bytes === null ? null : bytes / mebibyte;
}
