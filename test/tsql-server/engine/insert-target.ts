import type { ColumnSchema, TableSchema } from "../storage/schema";
import type { Image } from "../storage/row";
import { fullName } from "../storage/schema";
import type { TableData } from "../storage/table";
import type { Target } from "../syntax/ast-statements";
import type { SqlValue } from "../values";
import type { Binder } from "./bind/binder";
import { printName } from "./catalog";
import type { Frame } from "./frame";
import { LocalWriter } from "./local-writer";
import { isIntegerName, narrow } from "./numbers";
import { SimulationError, SqlError, sqlErrors } from "./sql-error";
import type { Steps } from "./steps";
import { requireWritable } from "./statement-run";
import { placeOf } from "./table-definition";
import { rulesOf } from "./table-rules";
import { TableWriter } from "./table-writer";

/** The table and columns that rows are inserted into. */
export class InsertTarget {
  readonly schema: TableSchema;
  /** Places of the columns that are given. */
  readonly places: readonly number[];
  readonly #variable: number | undefined;
  readonly #identity: number;
  readonly #binder: Binder;

  constructor(target: Target, columns: readonly string[] | undefined, binder: Binder) {
    this.#binder = binder;
    if (target.kind === "tableVariable") {
      const { schema, place } = binder.table(target.name);
      this.schema = schema;
      this.#variable = place;
    } else {
      const object = binder.catalog.find(target.name);
      if (object?.kind === "view")
        throw new SimulationError(`INSERT into the view ${printName(target.name)} isn't modelled`);
      if (object?.kind !== "table") throw sqlErrors.unknownObject(printName(target.name));
      this.schema = object.table;
      binder.need("INSERT", object);
    }
    this.#identity = this.schema.columns.findIndex((column) => column.identity !== undefined);
    this.places =
      columns === undefined
        ? [...this.schema.columns.keys()].filter((place) => place !== this.#identity)
        : columns.map((name) => placeOf(this.schema.columns, name));
    this.#refuseTwice();
  }

  #refuseTwice(): void {
    if (new Set(this.places).size === this.places.length) return;
    throw new SqlError(
      264,
      "The column name is specified more than once in the SET clause or column list of an INSERT.",
    );
  }

  columnAt(given: number): ColumnSchema {
    const column = this.schema.columns[this.places[given] ?? -1];
    if (column === undefined)
      throw new Error(`${this.schema.name} has no column for value ${given}`);
    return column;
  }

  expectCount(count: number): void {
    if (count === this.places.length) return;
    const [number, words] = count < this.places.length ? [120, "fewer"] : [121, "more"];
    throw new SqlError(
      number,
      `The select list for the INSERT statement contains ${words} items than the insert list. The number of SELECT values must match the number of INSERT columns.`,
    );
  }

  data(frame: Frame): TableData {
    return this.#variable === undefined
      ? frame.connection.world.data(this.schema)
      : frame.table(this.#variable);
  }

  /** A whole row: given values, the identity's next number, defaults, NULL. */
  imageOf(values: readonly SqlValue[], frame: Frame): Image {
    const { connection } = frame;
    const rules = rulesOf(this.schema, this.#binder.catalog);
    const image: SqlValue[] = this.schema.columns.map((_column, place) => {
      const given = this.places.indexOf(place);
      if (given >= 0) return values[given] ?? null;
      if (place === this.#identity) return null;
      return rules.hasDefault(place) ? (rules.defaultOf(place, connection) ?? null) : null;
    });
    if (this.#identity >= 0) this.#setIdentity(image, frame);
    rules.check(image, connection, "INSERT");
    return image;
  }

  /** Given out for good: a rollback leaves a hole [doc: CREATE TABLE IDENTITY]. */
  #setIdentity(image: SqlValue[], frame: Frame): void {
    const { connection } = frame;
    const column = this.schema.columns[this.#identity];
    if (column?.identity === undefined) return;
    const isGiven = this.places.includes(this.#identity);
    const data = this.data(frame);
    if (isGiven) {
      if (connection.identityInsert !== this.schema.id) {
        throw new SqlError(
          544,
          `Cannot insert explicit value for identity column in table '${fullName(this.schema)}' when IDENTITY_INSERT is set to OFF.`,
        );
      }
      data.hasGivenIdentity = true;
      const value = BigInt(Number(image[this.#identity] ?? 0));
      if (value >= data.nextIdentity) data.nextIdentity = value + column.identity.increment;
      return;
    }
    const next = data.nextIdentity;
    data.hasGivenIdentity = true;
    data.nextIdentity += column.identity.increment;
    if (!isIntegerName(column.type.name))
      throw new SimulationError(`Identity ${column.name} isn't a whole number`);
    const value = narrow(next, { name: "bigint" }, column.type.name);
    image[this.#identity] = value;
    connection.lastIdentity = next;
    if (!this.schema.isLocal) {
      connection.observe(`identity ${String(value)}`);
      connection.world.recorder?.draws(`identity of ${fullName(this.schema)}`);
    }
  }
}

export function* insertImages(
  frame: Frame,
  target: InsertTarget,
  images: readonly Image[],
): Steps<void> {
  const { connection } = frame;
  const data = target.data(frame);
  if (target.schema.isLocal) {
    const writer = new LocalWriter(connection, data);
    for (const image of images) writer.insert(image);
    return;
  }
  requireWritable(connection);
  if (images.length === 0) return;
  const writer = new TableWriter(connection, data);
  yield* writer.begin();
  for (const image of images) yield* writer.insert(image);
}
