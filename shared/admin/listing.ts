/** The first rows of a list, and whether they are all. */
export interface Listing<Row> {
  readonly rows: readonly Row[];
  /** There are more than `max` of them. A full list of the greatest `max` there is counts as cut: the rest isn't read. */
  readonly more: boolean;
}

/** How many rows a list may have. */
export const listMax = 1_000;
/** The same of batches. */
export const batchListMax = 100;

/** The same of entries of the audit. */
export const auditListMax = 100;

/** Asks for one row more than is wanted: so a list knows that it was cut. `top`: the most that may be asked for. */
export async function readListing<Request extends { readonly max: number }, Row>(
  request: Request,
  read: (request: Request) => Promise<readonly Row[]>,
  top = listMax,
): Promise<Listing<Row>> {
  const { max } = request;
  const rows = await read({ ...request, max: Math.min(max + 1, top) });
  return {
    rows: rows.slice(0, max),
    more: rows.length > max || (max >= top && rows.length >= top),
  };
}
