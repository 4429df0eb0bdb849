import type { HttpRequest } from "@azure/functions";
import type { Admin } from "../../admin/create-admin";
import { take } from "../../admin/read-result";
import type { ReadResult } from "../../admin/read-result";
import { readPage } from "./paging";
import type { Paging } from "./paging";
import { bodyOf } from "./read-body";
import { queryOf, refuseQuery } from "./read-request";
import type { Endpoint } from "./respond";
import { changeIfMatch } from "./settings";
import type { SettingsPlace } from "./settings";
import type { Tagged } from "./settings-tag";
import { callerName } from "./sign-in";

/** The three kinds of endpoints: one shows a thing, one lists rows, one changes something. */

type Reader<Value> = (input: unknown) => ReadResult<Value>;

/** Answers what `read` makes of a request without a query; with `tag` also the ETag of its settings. */
export function shows<Shown>(
  read: (admin: Admin, request: HttpRequest) => Promise<Shown>,
  tag?: (shown: Shown) => Tagged,
): Endpoint {
  return async (request, admin) => {
    refuseQuery(request);
    const body = await read(admin, request);
    return tag === undefined ? { body } : { body, headers: { etag: tag(body).tag } };
  };
}

interface List<Query, Row> extends Paging<Query, Row> {
  readonly query: Reader<Query>;
  readonly rows: (admin: Admin, query: Query) => Promise<readonly Row[]>;
  /** The tag of a row's settings: the row has it as `etag`, and a list of one row as its header, too. */
  readonly tag?: (row: Row) => Tagged;
  /** Of what a caller may see of a row. */
  readonly show?: (row: Row, request: HttpRequest) => unknown;
}

/** Answers the rows that a query asks for, in the member `list`, whether there are more, and the cursor that leads to them. */
export function lists<Query extends { readonly max: number }, Row>(
  list: List<Query, Row>,
): Endpoint {
  const { tag, show = (row: Row) => row } = list;
  return async (request, admin) => {
    const { cursor, ...filter } = queryOf(request);
    const query = take(list.query(filter));
    const page = await readPage(list, { query, cursor }, (each) => list.rows(admin, each));
    const { rows, ...rest } = page;
    const tags = tag === undefined ? [] : rows.map((row) => tag(row).tag);
    const shown = rows.map((row, at) => {
      const etag = tags[at];
      const seen = show(row, request) as object;
      return etag === undefined ? seen : { ...seen, etag };
    });
    const [etag, ...others] = tags;
    const isOne = etag !== undefined && others.length === 0 && cursor === undefined && !rest.more;
    return { body: { [list.list]: shown, ...rest }, ...(isOne ? { headers: { etag } } : {}) };
  };
}

interface Change<Place, Value> {
  /** Left out: the path of the route names nothing. */
  readonly place?: (request: HttpRequest) => Place;
  readonly read: Reader<Value>;
  readonly body?: (request: HttpRequest) => Promise<unknown>;
  /** The settings that If-Match is about. Left out: the header isn't looked at. */
  readonly settings?: SettingsPlace<Place & Value & ByCaller>;
}

interface ByCaller {
  readonly changedBy: string;
}

/** Changes what the body says, in the name of the caller; of settings only where If-Match, if it is there, is met. */
export function changes<Place extends object, Value extends object>(
  {
    place = () => ({}) as Place,
    read,
    body = (request) => bodyOf(request),
    settings,
  }: Change<Place, Value>,
  call: (admin: Admin, change: Place & Value & ByCaller) => Promise<unknown>,
): Endpoint {
  return async (request, admin) => {
    refuseQuery(request);
    const where = place(request);
    const value = take(read(await body(request)));
    const change = { ...value, ...where, changedBy: callerName(request) };
    const make = (each: typeof change) => call(admin, each);
    if (settings === undefined) return { body: await make(change) };
    return { body: await changeIfMatch({ request, admin, place: settings }, change, make) };
  };
}
