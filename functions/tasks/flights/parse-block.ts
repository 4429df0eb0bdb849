import { defineTask } from "taskgate";
import type { JsonValue } from "taskgate";
import { addTotals, totalsIn } from "./add-totals";
import { checkRow } from "./check-row";
import type { Flight } from "./flight";
import { readFlight } from "./flight";
import { addBlockTotals, findUnknownAirports, listImportedEvents } from "./flight-store";
import { totalsByOrigin } from "./flight-totals";
import { readLandedRows } from "./landed-file";
import { askPartner } from "./partner";
import { rowBlockSchema } from "./schemas";
import type { BadRow, RowBlock } from "./schemas";

/**
 * Reads one block of rows, asks the partner, and leaves its sums and, in the file's next wave, one `add-totals` task per
 * origin (of all blocks together) and one `check-row` task per bad row, all of it written together with its own completion. The limit is the partner's: four calls at once, over
 * all instances.
 */
export const parseBlock = defineTask({
  name: "parse-block",
  limit: 4,
  leaseMs: 15_000,
  // A block takes a second: a prefetched claim would only keep it from another worker.
  prefetch: 0,
  input: rowBlockSchema,
  run: async (block: RowBlock, ctx) => {
    const rows = await readLandedRows(block.file);
    const parsed = parseRows(rows.slice(block.from, block.from + block.count));
    await askPartner(ctx.signal);
    await ctx.completeWith(async (transaction) => {
      const codes = new Set(parsed.good.flatMap((row) => airportsOf(row.flight)));
      const unknown = await findUnknownAirports(transaction, [...codes]);
      const isKnown = (row: GoodRow) => !airportsOf(row.flight).some((code) => unknown.has(code));
      const flights = parsed.good.filter(isKnown).map((row) => row.flight);
      const bad = [...parsed.bad, ...parsed.good.filter((row) => !isKnown(row))];
      const totals = totalsByOrigin(flights);
      const wave = block.totalsWave;
      await addBlockTotals(transaction, { wave, part: `block ${String(block.from)}`, totals });
      // A dead block that is redriven later finds its file's waves over: what it adds goes without them.
      const isOver = (await listImportedEvents(transaction)).includes(block.file.eventId);
      for (const { origin } of totals)
        await ctx.enqueue(addTotals, { wave, origin }, isOver ? {} : totalsIn(wave, origin));
      for (const row of bad) {
        const payload = toBadRow(row, block, unknown);
        await ctx.enqueue(checkRow, payload, isOver ? {} : { wave });
      }
      return { flights: flights.length, origins: totals.length, badRows: bad.length };
    });
  },
});

/** A row by its place in the block. */
interface PlacedRow {
  readonly index: number;
  readonly content: JsonValue;
}

type GoodRow = PlacedRow & { readonly flight: Flight };

function parseRows(rows: readonly unknown[]): { good: GoodRow[]; bad: PlacedRow[] } {
  const good: GoodRow[] = [];
  const bad: PlacedRow[] = [];
  rows.forEach((row, index) => {
    const reading = readFlight(row);
    // The rows come from a JSON text.
    const content = row as JsonValue;
    if (reading.ok) good.push({ index, content, flight: reading.flight });
    else bad.push({ index, content });
  });
  return { good, bad };
}

function toBadRow(row: PlacedRow | GoodRow, block: RowBlock, unknown: ReadonlySet<string>): BadRow {
  const codes = "flight" in row ? airportsOf(row.flight) : [];
  const unknownAirports = codes.filter((code) => unknown.has(code));
  const { content, index } = row;
  const { file, from, totalsWave: wave } = block;
  return { file: file.name, row: from + index, content, wave, unknownAirports };
}

function airportsOf(flight: Flight): string[] {
  return [flight.origin, flight.destination];
}
