import { readListing } from "../admin/listing";
import { take } from "../admin/read-result";
import type { WatermarkReport } from "../admin/watermark-actions";
import { readListWatermarksQuery } from "../admin/watermark-requests";
import { maxOption, optionalNameParameter, report } from "./command";
import type { Command } from "./command";
import { describeCut, renderTable, showInstant } from "../terminal/output";
import type { Column } from "../terminal/output";

/** `taskgate watermarks` */
export const watermarksCommand: Command = {
  name: "watermarks",
  group: "look",
  parameters: [optionalNameParameter],
  options: {
    watermark: {
      type: "string",
      valueName: "WATERMARK",
      sentence: "Only watermarks of this name.",
    },
    max: maxOption(),
  },
  sentence: "Lists watermarks: how far blocks have been made.",
  examples: [
    { line: "taskgate watermarks", sentence: "All watermarks." },
    { line: "taskgate watermarks import-orders", sentence: "The watermarks of one definition." },
  ],
  run: async (context) => {
    const { watermark, max } = context.options;
    const query = take(readListWatermarksQuery({ definition: context.args[0], watermark, max }));
    const admin = await context.admin();
    const { rows: watermarks, more } = await readListing(query, admin.watermarks);
    report(context, { watermarks, more }, () =>
      watermarks.length === 0
        ? "There are no such watermarks."
        : renderTable(watermarks, columns, context.output) +
          describeCut({ rows: watermarks, more }),
    );
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
