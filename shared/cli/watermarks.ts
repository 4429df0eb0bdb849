import { readListing } from "../admin/listing";
import { take } from "../admin/object-reader";
import type { WatermarkReport } from "../admin/watermark-actions";
import { readListWatermarksQuery } from "../admin/watermark-requests";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { describeCut, renderTable, showInstant } from "./output";
import type { Column } from "./output";

/** `taskgate watermarks` */
export const watermarksCommand: Command = {
  name: "watermarks",
  parameters: [],
  options: {
    name: { type: "string", valueName: "NAME", sentence: "Only those of this definition." },
    watermark: { type: "string", valueName: "WATERMARK", sentence: "Only those of this name." },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..1000; default 100." },
  },
  sentence: "How far blocks have been made.",
  run: async (context) => {
    const { name, watermark, most } = context.options;
    const query = take(readListWatermarksQuery({ definition: name, watermark, most }));
    const admin = await context.admin();
    const { rows: watermarks, more } = await readListing(query, admin.watermarks);
    report(context, { watermarks, more }, () =>
      watermarks.length === 0
        ? "There are no such watermarks."
        : renderTable(watermarks, columns, context.output.columns) +
          describeCut({ rows: watermarks, more }),
    );
    return exitCodes.ok;
  },
};

const columns: Column<WatermarkReport>[] = [
  { title: "definition", value: (row) => row.definition },
  { title: "watermark", value: (row) => row.name },
  { title: "version", value: (row) => row.version, isNumber: true },
  { title: "changed", value: (row) => showInstant(row.changedAt) },
  { title: "value", value: (row) => (row.value === null ? "none" : JSON.stringify(row.value)) },
];
