import { fullName } from "../storage/schema";
import type { IndexSchema, TableSchema } from "../storage/schema";
import type { TableData } from "../storage/table";
import type { SqlValue } from "../values";
import type { LockHint, TableHints } from "../syntax/ast";
import type { AccessPath, OtherPath, PathQuestion, PathTerm } from "./access-path";
import { choosePath, otherPaths } from "./access-path";
import type { Binder } from "./bind/binder";
import { convertTo } from "./bind/conversions";
import type { SourceBinding } from "./bind/scope";
import type { Conjunct } from "./conjunct";
import type { Condition, Membership, Scalar } from "./expression";
import { scalarOf } from "./expression";
import type { Frame } from "./frame";
import { KeyRange } from "./key-range";
import { rulesOf } from "./table-rules";
import { SimulationError, SqlError } from "./sql-error";
import type { Emit, Source, WantedOrder } from "./source";
import { guard } from "./source";
import type { Steps } from "./steps";
import { isHigher, isText } from "./types";
import { scanRows } from "./scan";

/** A base table or table variable in FROM: the facts known before it runs. */
export class TableScan implements Source {
  readonly binding: SourceBinding;
  readonly schema: TableSchema;
  readonly hints: ReadonlySet<LockHint>;
  readonly isSingleRow = false;
  /** Written to by the statement: L11. */
  isTarget = false;
  /** L20 may apply: nothing of the statement forbids it. */
  allowsQualification = false;
  readonly line: number;
  readonly #binder: Binder;
  readonly #tableHints: TableHints | undefined;
  /** Place of the table variable in the frame. */
  readonly #variable: number | undefined;
  /** Tested inside the scan, under its lock. */
  readonly pushed: Conjunct[] = [];
  /** Tested behind it: they contain queries. */
  readonly #later: Condition[] = [];
  #order: readonly WantedOrder[] = [];
  #plan: ScanPlan | undefined;

  constructor(
    parts: { binding: SourceBinding; schema: TableSchema; variable?: number },
    context: { binder: Binder; hints?: TableHints; line: number },
  ) {
    this.binding = parts.binding;
    this.schema = parts.schema;
    this.#variable = parts.variable;
    this.#binder = context.binder;
    this.#tableHints = context.hints;
    this.hints = new Set(context.hints?.locks ?? []);
    this.line = context.line;
  }

  get slot(): number {
    return this.binding.slot;
  }

  get slots(): ReadonlySet<number> {
    return new Set([this.slot]);
  }

  place(conjunct: Conjunct): void {
    if (conjunct.condition.run === undefined) this.pushed.push(conjunct);
    else this.#later.push(conjunct.condition);
  }

  setMissing(frame: Frame): void {
    frame.rows[this.slot] = [];
  }

  serveOrder(order: readonly WantedOrder[]): boolean {
    if (order.some((item) => item.slot !== this.slot)) return false;
    this.#order = order;
    this.#plan = undefined;
    if (this.plan.path.isOrderServed) return true;
    this.#order = [];
    this.#plan = undefined;
    return false;
  }

  get plan(): ScanPlan {
    this.#plan ??= this.#makePlan();
    return this.#plan;
  }

  /** Raises what there is against its plan. */
  checkPlan(): void {
    this.#plan ??= this.#makePlan();
  }

  data(frame: Frame): TableData {
    return this.#variable === undefined
      ? frame.connection.world.data(this.schema)
      : frame.table(this.#variable);
  }

  *run(frame: Frame, emit: Emit): Steps<boolean> {
    return yield* scanRows(this, frame, guard(this.#later, frame, emit));
  }

  /** The place in the text, for faults and traces. */
  get where(): string {
    return this.#binder.place(this.line);
  }

  /** By which `forcedPaths` knows it: module, line and alias. */
  get accessName(): string {
    const { moduleName } = this.#binder;
    return `${moduleName === "" ? "batch" : moduleName}:${String(this.line)} ${this.binding.alias}`;
  }

  /** Ways to the same rows that its plan doesn't take. */
  get others(): OtherPath[] {
    const { question } = this.#ask();
    return otherPaths(this.schema, question, this.plan.path);
  }

  /** The ranges of the index, with the values that the conditions have now: one, or one per value of an IN. */
  ranges(frame: Frame): KeyRange[] {
    const at = this.plan.equal.findIndex((term) => term.hasSeveral);
    const term = this.plan.equal[at];
    if (term?.several === undefined) {
      const range = this.#range(frame, undefined);
      return range === undefined ? [] : [range];
    }
    return this.#distinct(term.column, term.several(frame)).flatMap(
      (value) => this.#range(frame, { at, value }) ?? [],
    );
  }

  /** In the order of the index, each once. */
  #distinct(column: number, values: readonly SqlValue[]): SqlValue[] {
    const { index } = this.plan.path;
    const compare = index.comparers[index.keyColumns.indexOf(column)] ?? ((): number => 0);
    const sorted = values.filter((value) => value !== null).sort(compare);
    return sorted.filter((value, at) => at === 0 || compare(sorted[at - 1] ?? null, value) !== 0);
  }

  /** undefined: a value is NULL, so no row is meant. */
  #range(frame: Frame, one: { at: number; value: SqlValue } | undefined): KeyRange | undefined {
    const { plan } = this;
    const equal: SqlValue[] = [];
    for (const [at, term] of plan.equal.entries()) {
      const value = at === one?.at ? one.value : term.value.evaluate(frame);
      if (value === null && !term.isNullTest) return undefined;
      equal.push(value);
    }
    const low = plan.low === undefined ? undefined : bound(plan.low, frame);
    const high = plan.high === undefined ? undefined : bound(plan.high, frame);
    if (low?.value === null || high?.value === null) return undefined;
    const index = this.data(frame).index(plan.path.index.place);
    const world = this.schema.isLocal ? undefined : frame.connection.world;
    return new KeyRange(index, { equal, low, high, isBackward: plan.path.isBackward }, world);
  }

  // ---- the plan

  #makePlan(): ScanPlan {
    const { question, terms } = this.#ask();
    const answer = choosePath(this.schema, question);
    if (answer.kind === "error") throw this.#refusal(answer.number);
    if (this.#binder.isStrict && !this.schema.isLocal && !answer.isPlain) {
      throw new SimulationError(
        `${this.where}: ${fullName(this.schema)} is read through ${answer.path.index.name} by the model's rule: expected a whole unique key, or a named index`,
      );
    }
    const { path } = answer;
    const take = (place: number | undefined): ScanTerm | undefined =>
      place === undefined ? undefined : terms[place];
    return {
      path,
      equal: path.equal.flatMap((place) => take(place) ?? []),
      low: take(path.low),
      high: take(path.high),
      filters: this.pushed.map((conjunct) => conjunct.condition),
    };
  }

  #ask(): { question: PathQuestion; terms: readonly ScanTerm[] } {
    const terms = this.pushed.flatMap((conjunct) => this.#termOf(conjunct));
    const { forcedPaths } = this.#binder.options;
    const question: PathQuestion = {
      terms,
      isFilterImplied: this.schema.indexes.map((index) => this.#isFilterImplied(index, terms)),
      readColumns: this.binding.read,
      order: this.#order,
      indexName: this.#tableHints?.index,
      isForceSeek: this.#tableHints?.isForceSeek === true,
      forced: this.schema.isLocal ? undefined : forcedPaths.get(this.accessName),
    };
    return { question, terms };
  }

  #refusal(number: 308 | 8622): SqlError {
    const name = this.#tableHints?.index ?? "";
    return number === 308
      ? new SqlError(
          308,
          `Index '${name}' on table '${fullName(this.schema)}' (specified in the FROM clause) does not exist.`,
        )
      : new SqlError(
          8622,
          `Query processor could not produce a query plan because of the hints defined in this query (${this.where}). Resubmit the query without specifying any hints and without using SET FORCEPLAN.`,
        );
  }

  #termOf(conjunct: Conjunct): ScanTerm[] {
    const { nullColumn, comparison } = conjunct;
    if (nullColumn?.slot === this.slot) {
      const value = scalarOf({ type: this.binding.columnAt(nullColumn.place).type }, () => null);
      return [{ ...oneValue, column: nullColumn.place, operator: "=", value, isNullTest: true }];
    }
    const { membership } = conjunct.condition;
    if (membership !== undefined) return this.#severalTerm(membership);
    if (comparison === undefined) return [];
    const { left, right, operator } = comparison;
    return [
      ...this.#sideTerm(left, right, operator),
      ...this.#sideTerm(right, left, flipped[operator]),
    ];
  }

  /** `column operator value`, where the value is known before the scan, and the value is converted, not the column. */
  #sideTerm(side: Scalar, value: Scalar, operator: PathTerm["operator"]): ScanTerm[] {
    const { column } = side;
    if (column?.slot !== this.slot || value.uses.has(this.slot)) return [];
    if (!this.#isServed(side, value, column.place)) return [];
    return [{ ...oneValue, column: column.place, operator, value: fitted(value, side) }];
  }

  #severalTerm(membership: Membership): ScanTerm[] {
    const { operand, item, values } = membership;
    const { column } = operand;
    if (column?.slot !== this.slot || item.uses.has(this.slot)) return [];
    if (!this.#isServed(operand, item, column.place)) return [];
    // Values in their own type compare with the key's like those of the condition, unless they are texts for numbers.
    if (isText(item.type) !== isText(operand.type)) return [];
    const shape = { ...oneValue, hasSeveral: true, several: values };
    return [
      { ...shape, column: column.place, operator: "=", value: { ...item, constant: undefined } },
    ];
  }

  #isServed(side: Scalar, value: Scalar, place: number): boolean {
    if (
      value.collation.rank === "explicit" &&
      isText(side.type) &&
      value.collation.name !== side.collation.name
    ) {
      return false;
    }
    if (value.isUntyped || !isConverted(side, value)) return true;
    const isKey = this.schema.indexes.some((index) => index.keyColumns.includes(place));
    if (isKey && !this.schema.isLocal && this.#binder.isStrict) {
      throw new SimulationError(
        `${this.where}: the key column ${fullName(this.schema)}.${this.binding.columnAt(place).name} (${side.type.name}) would be converted to ${value.type.name}`,
      );
    }
    return (
      isText(side.type) === isText(value.type) &&
      side.type.name !== "varchar" &&
      side.type.name !== "char"
    );
  }

  /** Each part of the filter is written in the statement, or follows from an equality with a literal. */
  #isFilterImplied(index: IndexSchema, terms: readonly ScanTerm[]): boolean {
    if (index.filter === undefined) return true;
    const texts = new Set(this.pushed.map((conjunct) => conjunct.text));
    const known = new Map<number, SqlValue | undefined>();
    for (const term of terms) {
      if (term.operator === "=" && !term.hasSeveral)
        known.set(term.column, term.isNullTest ? null : term.value.constant);
    }
    return rulesOf(this.schema, this.#binder.catalog)
      .filterParts(index, this.slot)
      .every((part) => texts.has(part.text) || part.followsFrom(known));
  }
}

export interface ScanPlan {
  readonly path: AccessPath;
  readonly equal: readonly ScanTerm[];
  readonly low: ScanTerm | undefined;
  readonly high: ScanTerm | undefined;
  readonly filters: readonly Condition[];
}

interface ScanTerm extends PathTerm {
  readonly value: Scalar;
  /** IS NULL: the one equality that NULL has. */
  readonly isNullTest: boolean;
  readonly several: ((frame: Frame) => readonly SqlValue[]) | undefined;
}

const oneValue = { isNullTest: false, hasSeveral: false, several: undefined };

const flipped: Record<PathTerm["operator"], PathTerm["operator"]> = {
  "=": "=",
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
};

function bound(term: ScanTerm, frame: Frame): { value: SqlValue; isExclusive: boolean } {
  return { value: term.value.evaluate(frame), isExclusive: term.operator.length === 1 };
}

/** Does comparing convert the column? Literals are converted when the plan is made. */
function isConverted(column: Scalar, value: Scalar): boolean {
  if (value.constant !== undefined && !isText(value.type)) return false;
  if (column.type.name === value.type.name) return false;
  return isHigher(value.type, column.type);
}

/** The value in the column's type, where its own compares otherwise. */
function fitted(value: Scalar, column: Scalar): Scalar {
  return value.type.name === column.type.name ? value : fitValue(value, column);
}

function fitValue(value: Scalar, column: Scalar): Scalar {
  return isText(value.type) && isText(column.type) ? value : convertTo(value, column.type);
}
