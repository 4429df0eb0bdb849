import { readListSharedLimitsQuery } from "../admin/limit-requests";
import { readListing } from "../admin/listing";
import { take } from "../admin/object-reader";
import type { SharedLimitReading } from "../ports/task-store";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { describeCut, renderTable, showLimit } from "./output";
import type { Column } from "./output";

/** `taskgate limits` */
export const limitsCommand: Command = {
  name: "limits",
  parameters: [],
  options: {
    name: { type: "string", valueName: "NAME", sentence: "Only this one." },
    most: { type: "string", valueName: "N", sentence: "At most so many, 1..1000; default 100." },
  },
  sentence: "Limits that definitions share, what is held of them and by whom.",
  details:
    "`taskgate definitions` has each definition's own limit; `taskgate limit NAME N --shared` sets a shared one.",
  run: async (context) => {
    const { name, most } = context.options;
    const query = take(readListSharedLimitsQuery({ name, most }));
    const admin = await context.admin();
    const { rows: sharedLimits, more } = await readListing(query, admin.sharedLimits);
    report(context, { sharedLimits, more }, () =>
      sharedLimits.length === 0
        ? "There are no such shared limits."
        : renderTable(sharedLimits, columns, context.output.columns) +
          describeCut({ rows: sharedLimits, more }),
    );
    return exitCodes.ok;
  },
};

const columns: Column<SharedLimitReading>[] = [
  { title: "shared limit", value: (row) => row.name },
  { title: "limit", value: (row) => showLimit(row.limit), isNumber: true },
  { title: "code", value: (row) => showLimit(row.codeLimit), isNumber: true },
  { title: "held", value: (row) => String(row.held), isNumber: true },
  { title: "by", value: describeUsers },
];

/** By name; who holds none is named, too: it may wait for this limit. */
function describeUsers({ definitions }: SharedLimitReading): string {
  const users = definitions.map(({ name, held }) => `${name} ${String(held)}`);
  return users.length === 0 ? "no definition draws from it" : users.join(", ");
}
