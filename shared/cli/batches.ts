import type { BatchReport } from "../admin/batch-actions";
import { readListBatchesQuery } from "../admin/batch-requests";
import { batchListMax, readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { looks } from "../admin/sentences";
import { maxOption } from "./command";
import type { Command } from "./command";
import { showDuration, showInstant } from "../terminal/output";
import type { Column } from "../terminal/output";
import { reportListing } from "./report-listing";

/** `taskgate batches` */
export const batchesCommand: Command = {
  name: "batches",
  group: "look",
  parameters: [],
  options: {
    before: { valueName: "ID", sentence: "Only batches older than this one." },
    max: maxOption(batchListMax, 20),
  },
  sentence: `${looks.batches}.`,
  examples: [
    { line: "taskgate batches -n 5", sentence: "The newest 5." },
    { line: "taskgate batches --before 100", sentence: "The page before batch 100." },
  ],
  run: async (context) => {
    const { before, max } = context.options;
    const query = take(readListBatchesQuery({ before, max }));
    const { batches } = context.admin();
    const listing = await readListing(query, batches, batchListMax);
    reportListing(context, listing, { name: "batches", columns, top: batchListMax });
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
  const begun = waves.filter((wave) => wave.state !== "blocked").length;
  return `${String(begun)} of ${String(waves.length)}`;
}
