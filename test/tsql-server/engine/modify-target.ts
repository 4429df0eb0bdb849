import type { Source as SourceNode } from "../syntax/ast";
import type { Delete, Target, Update } from "../syntax/ast-statements";
import type { Image } from "../storage/row";
import { fullName } from "../storage/schema";
import { bindConjuncts } from "./conjunct";
import { bindSource } from "./bind/sources";
import type { Scope, SourceBinding, SourceColumn } from "./bind/scope";
import { keyOf, printName } from "./catalog";
import type { Condition } from "./expression";
import { truthOf } from "./expression";
import type { Frame } from "./frame";
import { SimulationError, sqlErrors } from "./sql-error";
import type { Emit, Source } from "./source";
import type { Steps } from "./steps";
import type { TableScan } from "./table-scan";
import { bindTable } from "./table-rules";
import type { Hoisted } from "./bind/scope";
import { findUpdatable } from "./bind/updatable";

/** What an UPDATE or DELETE is about: the rows it finds, the table they are in, and the names of that table's columns. */
export interface ModifyTarget {
  readonly scan: TableScan;
  /** Columns as the statement may name them, and OUTPUT shows them. */
  readonly columns: readonly SourceColumn[];
  /** Their places in the table. */
  readonly places: readonly number[];
  /** Rows found, each in the frame: the table's at the scan's slot. */
  readonly find: (frame: Frame, emit: Emit) => Steps<boolean>;
}

export function bindModifyTarget(node: Update | Delete, scope: Scope): ModifyTarget {
  scope.hoisted = [];
  const source = bindSource(node.from ?? targetSource(node.target), scope);
  const found = findTarget(node.target, scope);
  const startup = placeConditions(node, source, scope);
  const hoisted = scope.hoisted;
  scope.hoisted = undefined;
  found.scan.isTarget = true;
  return { ...found, find: (frame, emit) => find({ source, startup, hoisted }, frame, emit) };
}

/** Without FROM the target is the only source. */
function targetSource(target: Target): SourceNode {
  if (target.kind === "tableVariable") return { ...target, alias: undefined };
  return {
    kind: "table",
    name: target.name,
    alias: undefined,
    hints: target.hints,
    line: target.name.line,
  };
}

function placeConditions(node: Update | Delete, source: Source, scope: Scope): Condition[] {
  const startup: Condition[] = [];
  for (const conjunct of bindConjuncts(node.where, scope)) {
    const isOwn = [...conjunct.condition.uses].some((slot) => source.slots.has(slot));
    if (isOwn) source.place(conjunct);
    else startup.push(conjunct.condition);
  }
  return startup;
}

function* find(
  parts: { source: Source; startup: readonly Condition[]; hoisted: readonly Hoisted[] },
  frame: Frame,
  emit: Emit,
): Steps<boolean> {
  for (const once of parts.hoisted) yield* once(frame);
  for (const condition of parts.startup) {
    if ((yield* truthOf(condition, frame)) !== true) return false;
  }
  return yield* parts.source.run(frame, emit);
}

/** The source that is written to: by its alias, else by the table's name. */
function findTarget(target: Target, scope: Scope): Omit<ModifyTarget, "find"> {
  const binding = bindingOf(target, scope);
  const scan = scanAt(binding.slot, scope);
  if (scan !== undefined) {
    const { columns } = bindTable(scan.schema, binding.alias, binding.slot);
    return { scan, columns, places: [...columns.keys()] };
  }
  return throughQuery(binding, scope);
}

function bindingOf(target: Target, scope: Scope): SourceBinding {
  const name = target.kind === "tableVariable" ? target.name : target.name.name;
  const isQualified = target.kind === "named" && target.name.schema !== undefined;
  const wanted = name.toLowerCase();
  const byAlias = scope.sources.find((source) => source.alias.toLowerCase() === wanted);
  if (byAlias !== undefined && !isQualified) return byAlias;
  const byTable = scope.sources.find((source) => {
    const scan = scanAt(source.slot, scope);
    if (scan === undefined) return false;
    if (target.kind === "tableVariable")
      return scan.schema.isLocal && scan.schema.name.toLowerCase() === wanted;
    return fullName(scan.schema).toLowerCase() === keyOf(target.name);
  });
  if (byTable !== undefined) return byTable;
  throw sqlErrors.unknownObject(
    target.kind === "tableVariable" ? target.name : printName(target.name),
  );
}

function scanAt(slot: number, scope: Scope): TableScan | undefined {
  return scope.binder.scans.find((scan) => scan.slot === slot);
}

/** Through a CTE or derived table: its columns that are plain columns of its one table. */
function throughQuery(binding: SourceBinding, scope: Scope): Omit<ModifyTarget, "find"> {
  const query = findUpdatable(scope.binder, binding.slot);
  const slots = new Set(query?.items.flatMap((item) => item.column?.slot ?? []));
  const scans = scope.binder.scans.filter((scan) => query?.source?.slots.has(scan.slot) === true);
  const scan = scans.length === 1 ? scans[0] : scans.find((one) => slots.has(one.slot));
  if (query === undefined || scan === undefined) {
    throw new SimulationError(
      `A write through ${binding.alias} isn't modelled: expected a query of one table`,
    );
  }
  const columns: SourceColumn[] = [];
  const places: number[] = [];
  query.items.forEach((item, at) => {
    if (item.column?.slot !== scan.slot) return;
    columns.push(binding.columnAt(at));
    places.push(item.column.place);
  });
  return { scan, columns, places };
}

/** An image as OUTPUT shows it. */
export function shownImage(target: ModifyTarget, image: Image): Image {
  return target.places.map((place) => image[place] ?? null);
}
