import { readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import { looks } from "../admin/sentences";
import type { WatermarkReport } from "../admin/watermark-actions";
import { readListWatermarksQuery } from "../admin/watermark-requests";
import { maxOption, optionalNameParameter } from "./command";
import type { Command } from "./command";
import { showInstant } from "../terminal/output";
import type { Column } from "../terminal/output";
import { reportListing } from "./report-listing";

/** `taskgate watermarks` */
export const watermarksCommand: Command = {
  name: "watermarks",
  group: "look",
  parameters: [optionalNameParameter],
  options: {
    watermark: { valueName: "WATERMARK", sentence: "Only watermarks of this name." },
    max: maxOption(),
  },
  sentence: `${looks.watermarks}.`,
  examples: [
    { line: "taskgate watermarks", sentence: "All watermarks." },
    { line: "taskgate watermarks import-orders", sentence: "The watermarks of one definition." },
  ],
  run: async (context) => {
    const { watermark, max } = context.options;
    const query = take(readListWatermarksQuery({ definition: context.args[0], watermark, max }));
    const { watermarks } = context.admin();
    reportListing(context, await readListing(query, watermarks), { name: "watermarks", columns });
  },
};

const columns: Column<WatermarkReport>[] = [
  { title: "definition", value: (row) => row.definition },
  { title: "watermark", value: (row) => row.name },
  { title: "version", value: (row) => row.version, isNumber: true },
  { title: "changed", value: (row) => showInstant(row.changedAt) },
  {
    title: "value",
    value: (row) => (row.value === null ? "none" : JSON.stringify(row.value)),
    wraps: true,
  },
];
