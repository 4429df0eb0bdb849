import type { BatchReport } from "../admin/batch-actions";
import { readListBatchesQuery } from "../admin/batch-requests";
import { batchListMax, readListing } from "../admin/listing";
import { take } from "../admin/object-reader";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { describeCut, renderTable, showDuration, showInstant } from "./output";
import type { Column } from "./output";

/** `taskgate batches` */
export const batchesCommand: Command = {
  name: "batches",
  parameters: [],
  options: {
    before: { type: "string", valueName: "ID", sentence: "Only those made before this one." },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..100; default 20." },
  },
  sentence: "Batches and how far they are, newest first.",
  run: async (context) => {
    const { before, most } = context.options;
    const query = take(readListBatchesQuery({ before, most }));
    const admin = await context.admin();
    const { rows: batches, more } = await readListing(query, admin.batches, batchListMax);
    report(context, { batches, more }, () =>
      batches.length === 0
        ? "There are no such batches."
        : renderTable(batches, columns, context.output.columns) +
          describeCut({ rows: batches, more }, batchListMax),
    );
    return exitCodes.ok;
  },
};

const columns: Column<BatchReport>[] = [
  { title: "batch", value: (row) => row.batch, isNumber: true },
  { title: "name", value: (row) => row.name },
  { title: "state", value: (row) => row.state },
  { title: "wave", value: (row) => waveOf(row) },
  {
    title: "ended",
    value: (row) => `${String(row.ended)} of ${String(row.tasks)}`,
    isNumber: true,
  },
  { title: "dead", value: (row) => String(row.dead), isNumber: true },
  { title: "left", value: (row) => showDuration(row.estimatedLeftMs), isNumber: true },
  { title: "created", value: (row) => showInstant(row.createdAt) },
];

/** `2 of 3`: those that are over, and the one that is open. */
function waveOf({ waves }: BatchReport): string {
  const begun = waves.filter((wave) => wave.state !== "held").length;
  return `${String(begun)} of ${String(waves.length)}`;
}
