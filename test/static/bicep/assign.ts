import type { Node } from "web-tree-sitter";
import { anyType, unionOf, type BicepType, type ObjectType, type PropertyType } from "./bicep-type";
import { enterLoop, expectType, inferType } from "./expression";
import { lineOf, namedChildren, objectEntries } from "./parser";
import type { FileScope } from "./scope";

/** Where a value goes. */
export interface Target {
  readonly type: BicepType;
  /** True for a part of an object that is put together elsewhere: nothing is missing yet. */
  readonly isPartial?: boolean;
}

/** Checks a value against the type of the place it goes to, part by part where it is a literal. */
export function checkAssignment(value: Node, target: Target, scope: FileScope): void {
  const object = objectOption(target.type);
  const item = arrayItem(target.type);
  switch (value.type) {
    case "object":
      if (object !== undefined) {
        checkObject(value, { type: object, isPartial: target.isPartial ?? false }, scope);
        return;
      }
      break;
    case "array":
      if (item !== undefined) {
        for (const child of namedChildren(value)) {
          checkAssignment(child, { type: item }, scope);
        }
        return;
      }
      break;
    case "for_statement":
      if (item !== undefined) {
        checkLoop(value, item, scope);
        return;
      }
      break;
    case "ternary_expression":
      checkChoice(value, target, scope);
      return;
    case "call_expression":
      if (object !== undefined && value.childForFieldName("function")?.text === "union") {
        checkUnion(value, object, scope);
        return;
      }
      break;
    case "identifier":
      if (followsVariable(value, target, scope)) {
        return;
      }
      break;
    default:
      break;
  }
  expectType(value, target.type, scope);
}

function objectOption(type: BicepType): ObjectType | undefined {
  const options = type.kind === "union" ? type.options : [type];
  return options.find((option) => option.kind === "object");
}

function arrayItem(type: BicepType): BicepType | undefined {
  const options = type.kind === "union" ? type.options : [type];
  return options.find((option) => option.kind === "array")?.item;
}

/** A variable that holds a literal object or array is checked as if it stood here. */
function followsVariable(value: Node, target: Target, scope: FileScope): boolean {
  const symbol = scope.symbols.get(value.text);
  const isLiteral =
    symbol?.kind === "variable" && ["object", "array"].includes(symbol.declaration.value.type);
  if (!isLiteral || target.type.kind === "any") {
    return false;
  }
  checkAssignment(symbol.declaration.value, target, scope);
  return true;
}

function checkChoice(value: Node, target: Target, scope: FileScope): void {
  const condition = value.childForFieldName("condition");
  if (condition !== null) {
    inferType(condition, scope);
  }
  for (const name of ["consequence", "alternative"]) {
    const branch = value.childForFieldName(name);
    if (branch !== null) {
      checkAssignment(branch, target, scope);
    }
  }
}

function checkUnion(value: Node, type: ObjectType, scope: FileScope): void {
  const list = value.childForFieldName("arguments");
  for (const part of list === null ? [] : namedChildren(list)) {
    checkAssignment(part, { type, isPartial: true }, scope);
  }
}

function checkLoop(loop: Node, item: BicepType, scope: FileScope): void {
  const body = loop.childForFieldName("body");
  if (body !== null) {
    checkAssignment(body, { type: item }, enterLoop(loop, scope));
  }
}

function checkObject(
  value: Node,
  target: { readonly type: ObjectType; readonly isPartial: boolean },
  scope: FileScope,
): void {
  const { type } = target;
  const given = new Set<string>();
  for (const { name, key, value: child } of objectEntries(value)) {
    if (name === undefined) {
      inferType(key, scope);
      checkAssignment(child, { type: type.others ?? anyType }, scope);
      continue;
    }
    if (given.has(name)) {
      scope.report("name", lineOf(key), `property "${name}" is given twice`);
    }
    given.add(name);
    checkProperty({ name, key, child }, type, scope);
  }
  if (!target.isPartial) {
    for (const name of type.names()) {
      if (type.property(name)?.isRequired === true && !given.has(name)) {
        scope.report("required", lineOf(value), `${type.name} lacks "${name}"`);
      }
    }
  }
}

function checkProperty(
  entry: { readonly name: string; readonly key: Node; readonly child: Node },
  type: ObjectType,
  scope: FileScope,
): void {
  const property = type.property(entry.name);
  if (property?.isReadOnly === true) {
    scope.report("read-only", lineOf(entry.key), `"${entry.name}" of ${type.name} is read-only`);
    return;
  }
  // Some official types declare names and admit any other: a name they don't know is taken for a
  // misspelling there, too.
  const isOpen = type.others?.kind !== "any" || type.names().length === 0;
  const others = isOpen ? type.others : undefined;
  const wanted = property === undefined ? others : writtenType(property);
  if (wanted === undefined) {
    const near = type.names().find((name) => name.toLowerCase() === entry.name.toLowerCase());
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    scope.report("property", lineOf(entry.key), `${type.name} has no "${entry.name}"${hint}`);
    inferType(entry.child, scope);
    return;
  }
  checkAssignment(entry.child, { type: wanted }, scope);
  checkNull(entry.child, property, scope);
}

/** Null stands for "not given", so it may be assigned to whatever is not required. */
function writtenType(property: PropertyType): BicepType {
  if (property.isRequired || property.type.kind === "any") {
    return property.type;
  }
  const options = property.type.kind === "union" ? property.type.options : [property.type];
  return unionOf([...options, { kind: "null" }]);
}

function checkNull(value: Node, property: PropertyType | undefined, scope: FileScope): void {
  const isNull = value.type === "null" || value.text === "null";
  if (isNull && property?.isRequired === true) {
    scope.report("required", lineOf(value), "null where a value is required");
  }
}
