import type { Image, Row } from "../storage/row";
import type { Assignment, Delete, Update } from "../syntax/ast-statements";
import type { SqlValue } from "../values";
import type { Binder } from "./bind/binder";
import { bindArithmetic } from "./bind/arithmetic";
import { convertTo } from "./bind/conversions";
import { bindExpression } from "./bind/expressions";
import { Scope } from "./bind/scope";
import { columnConverter } from "./column-values";
import { converterOf } from "./convert";
import { noteCount } from "./counts";
import type { Scalar } from "./expression";
import { literal, scalarOf, valueOf } from "./expression";
import type { Frame } from "./frame";
import { LocalWriter } from "./local-writer";
import type { ModifyTarget } from "./modify-target";
import { bindModifyTarget, shownImage } from "./modify-target";
import { OutputPlan } from "./output";
import type { Flow, Runner } from "./program";
import { SimulationError, SqlError, sqlErrors } from "./sql-error";
import { requireWritable, runStatement } from "./statement-run";
import type { Steps } from "./steps";
import { rulesOf } from "./table-rules";
import type { Change } from "./table-writer";
import { TableWriter } from "./table-writer";
import type { WrittenPart } from "./written-part";
import { isPartial, writePart } from "./written-part";
import { bigintType } from "./types";

interface Hit {
  readonly row: Row;
  /** The row as it was found. */
  readonly found: Image;
  /** undefined: it goes. */
  readonly image: Image | undefined;
  readonly parts: ReadonlyMap<number, WrittenPart>;
  readonly shown: SqlValue[];
}

interface ModifyPlan {
  readonly target: ModifyTarget;
  readonly top: Scalar | undefined;
  readonly output: OutputPlan | undefined;
  /** The row's new image; undefined to delete it. Notes what is written of a value in part. */
  readonly change: (
    frame: Frame,
    old: Image,
    parts: Map<number, WrittenPart>,
  ) => Steps<Image | undefined>;
  /** Columns that SET names, by place. */
  readonly columns: readonly number[];
}

/** UPDATE and DELETE in two phases: rows are found under U locks (L11), then written under X. */
export function compileModify(node: Update | Delete, binder: Binder): Runner {
  const from = binder.scans.length;
  const scope = new Scope(binder);
  for (const cte of node.ctes) scope.addCte(cte, scope);
  const target = bindModifyTarget(node, scope);
  const { schema } = target.scan;
  if (!schema.isLocal) binder.need(node.kind === "update" ? "UPDATE" : "DELETE", schema);
  const assigns =
    node.kind === "update" && node.assignments.some((one) => one.variable !== undefined);
  target.scan.allowsQualification = node.output === undefined && !assigns;
  const plan: ModifyPlan = {
    target,
    top:
      node.top === undefined
        ? undefined
        : convertTo(bindExpression(node.top, new Scope(binder)), bigintType),
    ...(node.kind === "update"
      ? bindAssignments(node.assignments, target, scope)
      : { change: remove, columns: [] }),
    output:
      node.output === undefined
        ? undefined
        : new OutputPlan(
            node.output,
            { columns: target.columns, hasInserted: node.kind === "update", hasDeleted: true },
            scope,
          ),
  };
  const scans = binder.scans.splice(from);
  return (frame) => runStatement(frame, scans, () => modify(plan, frame));
}

function* remove(): Steps<Image | undefined> {
  yield* [];
  return undefined;
}

function* modify(plan: ModifyPlan, frame: Frame): Steps<Flow> {
  const { connection } = frame;
  const { scan } = plan.target;
  if (!scan.schema.isLocal) requireWritable(connection);
  const top =
    plan.top === undefined ? Number.POSITIVE_INFINITY : Number(yield* valueOf(plan.top, frame));
  const hits: Hit[] = [];
  const seen = new Set<Row>();
  const pipelines = connection.world.options.pipelinesWrites;
  if (top > 0) {
    yield* plan.target.find(frame, function* () {
      const row = frame.hits[scan.slot];
      const old = row?.image;
      if (row === undefined || old === undefined || seen.has(row)) return false;
      seen.add(row);
      const parts = new Map<number, WrittenPart>();
      const image = yield* plan.change(frame, old, parts);
      const shown = plan.output?.gather(frame, {
        deleted: shownImage(plan.target, old),
        inserted: image === undefined ? [] : shownImage(plan.target, image),
      });
      const hit = { row, found: old, image, parts, shown: shown ?? [] };
      hits.push(hit);
      frame.take(row);
      if (pipelines) yield* write(plan, [hit], frame);
      frame.take(row);
      return hits.length >= top;
    });
  }
  if (!pipelines) yield* write(plan, hits, frame);
  if (plan.output !== undefined) {
    yield* plan.output.finish(
      frame,
      hits.map((hit) => hit.shown),
    );
  }
  noteCount(connection, hits.length, plan.output?.sendsRows === true);
  return "next";
}

function* write(plan: ModifyPlan, hits: readonly Hit[], frame: Frame): Steps<void> {
  const { connection } = frame;
  const { scan } = plan.target;
  if (hits.length === 0) return;
  const { columns } = plan;
  const changes: Change[] = hits.flatMap(({ row, found, image, parts }) =>
    image === undefined ? [] : [{ row, found, image, columns, parts }],
  );
  const gone = hits.flatMap(({ row, image }) => (image === undefined ? [row] : []));
  if (scan.schema.isLocal) {
    const writer = new LocalWriter(connection, scan.data(frame));
    writer.update(changes);
    writer.delete(gone);
    return;
  }
  const writer = new TableWriter(connection, scan.data(frame));
  yield* writer.begin();
  yield* writer.update(changes);
  yield* writer.delete(gone);
}

// ---- SET

interface BoundAssignment {
  readonly scalar: Scalar;
  readonly part: { readonly offset: Scalar; readonly length: Scalar } | undefined;
  readonly variable:
    | { readonly place: number; readonly convert: (value: SqlValue) => SqlValue }
    | undefined;
  readonly column:
    | { readonly place: number; readonly convert: (value: SqlValue) => SqlValue }
    | undefined;
}

/** All columns are computed from the row as it was; variables from left to right. */
function bindAssignments(
  nodes: readonly Assignment[],
  target: ModifyTarget,
  scope: Scope,
): Pick<ModifyPlan, "change" | "columns"> {
  const { scan } = target;
  const bound = nodes.map((node) => bindAssignment(node, target, scope));
  const rules = rulesOf(scan.schema, scope.binder.catalog);
  const columns = bound.flatMap(({ column }) => column?.place ?? []);
  const change: ModifyPlan["change"] = function* (frame, old, parts) {
    const image = [...old];
    for (const { scalar, part, variable, column } of bound) {
      let value = yield* valueOf(scalar, frame);
      if (column !== undefined) {
        value = column.convert(value);
        if (part !== undefined) {
          const offset = Number(yield* valueOf(part.offset, frame));
          const length = Number(yield* valueOf(part.length, frame));
          const written = writePart(old[column.place] ?? null, { offset, length, value });
          parts.set(column.place, written.part);
          value = written.value;
        }
        image[column.place] = value;
      }
      if (variable !== undefined) frame.variables[variable.place] = variable.convert(value);
    }
    rules.check(image, frame.connection, "UPDATE");
    return image;
  };
  return { change, columns };
}

function bindAssignment(node: Assignment, target: ModifyTarget, scope: Scope): BoundAssignment {
  const column = node.column === undefined ? undefined : bindColumnOf(node.column, target);
  const scalar = bindValue(node, { target, column }, scope);
  const { scan } = target;
  const schema = column === undefined ? undefined : scan.schema.columns[column.place];
  const variable = node.variable === undefined ? undefined : scope.binder.variable(node.variable);
  const stored = schema?.type ?? scalar.type;
  const { part } = node;
  if (part !== undefined && (schema === undefined || !isPartial(schema.type)))
    throw new SimulationError(`.WRITE of ${node.column ?? ""}: its type isn't max`);
  return {
    scalar,
    part:
      part === undefined
        ? undefined
        : {
            offset: convertTo(bindExpression(part.offset, scope), bigintType),
            length: convertTo(bindExpression(part.length, scope), bigintType),
          },
    column:
      column === undefined || schema === undefined
        ? undefined
        : {
            place: column.place,
            convert: scalar.isUntyped
              ? (value) => value
              : columnConverter(scalar.type, schema, scan.schema),
          },
    variable:
      variable === undefined
        ? undefined
        : {
            place: variable.place,
            convert: scalar.isUntyped ? (value) => value : converterOf(stored, variable.type),
          },
  };
}

function bindColumnOf(name: string, target: ModifyTarget): { place: number } {
  const at = target.columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase());
  const place = target.places[at];
  if (place === undefined) throw sqlErrors.unknownColumn(name);
  const column = target.scan.schema.columns[place];
  if (column?.identity !== undefined) {
    throw new SqlError(8102, `Cannot update identity column '${column.name}'.`);
  }
  return { place };
}

function bindValue(
  node: Assignment,
  context: { target: ModifyTarget; column: { place: number } | undefined },
  scope: Scope,
): Scalar {
  const { scan } = context.target;
  const place = context.column?.place;
  const schema = place === undefined ? undefined : scan.schema.columns[place];
  if (node.value === undefined) {
    if (schema?.default === undefined) return literal(schema?.type ?? { name: "int" }, null);
    return bindExpression(schema.default.value, new Scope(scope.binder));
  }
  const value = bindExpression(node.value, scope);
  if (node.operator === "=") return value;
  const before =
    place === undefined || schema === undefined
      ? bindExpression({ kind: "variable", name: node.variable ?? "", line: node.line }, scope)
      : scalarOf({ type: schema.type, uses: new Set([scan.slot]) }, (frame) =>
          frame.value(scan.slot, place),
        );
  return bindArithmetic(node.operator.charAt(0) as "+", [before, value]);
}
