import type { Listing } from "../admin/listing";
import { describeCut, renderTable } from "../terminal/output";
import type { Column } from "../terminal/output";
import { report } from "./command";
import type { CommandContext } from "./command";

/** How a list is told. */
interface Told<Row> {
  /** What its rows are: their member in JSON, and the word for people where there is none. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  /** The sentence where there is none; default: `There are no such NAME.` */
  readonly none?: string;
  /** The most rows that may be asked for; default 1,000. */
  readonly top?: number;
}

/** A list: for people a table, and a line where it was cut. */
export function reportListing<Row>(
  context: CommandContext,
  listing: Listing<Row>,
  { name, columns, none = `There are no such ${name}.`, top }: Told<Row>,
): void {
  const { rows, more } = listing;
  report(context, { [name]: rows, more }, () =>
    rows.length === 0
      ? none
      : renderTable(rows, columns, context.output) + describeCut(listing, top),
  );
}
