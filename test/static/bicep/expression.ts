import type { Node } from "web-tree-sitter";
import {
  anyType,
  boolType,
  intType,
  isAssignable,
  nullType,
  objectType,
  stringType,
  typeName,
  unionOf,
  type BicepType,
} from "./bicep-type";
import { builtIns, isSecretFunction } from "./builtins";
import { lineOf, literalText, namedChildren, objectEntries } from "./parser";
import {
  declaredType,
  loopSource,
  moduleType,
  resourceType,
  withLoopVariables,
  type FileScope,
} from "./scope";

const COMPARISONS = new Set(["==", "!=", "<", ">", "<=", ">=", "=~", "!~", "&&", "||"]);

/** Type of an expression; names, properties and functions that do not exist are reported. */
export function inferType(node: Node, scope: FileScope): BicepType {
  switch (node.type) {
    case "string":
      return inferString(node, scope);
    case "number":
      return intType;
    case "boolean":
      return boolType;
    case "null":
      return nullType;
    case "identifier":
      return inferName(node, scope);
    case "array": {
      const items = namedChildren(node).map((item) => inferType(item, scope));
      return { kind: "array", item: items.length === 0 ? anyType : unionOf(items) };
    }
    case "object":
      return inferObject(node, scope);
    case "for_statement":
      return inferLoop(node, scope);
    case "member_expression":
      return inferMember(node, scope);
    case "subscript_expression":
      return inferIndex(node, scope);
    case "call_expression":
      return inferCall(node, scope);
    case "ternary_expression":
      return inferChoice(node, scope);
    case "binary_expression":
      return inferBinary(node, scope);
    case "unary_expression":
      return inferUnary(node, scope);
    default: {
      const types = namedChildren(node).map((child) => inferType(child, scope));
      return node.type === "parenthesized_expression" ? (types[0] ?? anyType) : anyType;
    }
  }
}

function inferString(node: Node, scope: FileScope): BicepType {
  const value = literalText(node);
  if (value !== undefined) {
    return { kind: "literal", value };
  }
  for (const part of namedChildren(node).filter((child) => child.type === "interpolation")) {
    for (const expression of namedChildren(part)) {
      inferType(expression, scope);
    }
  }
  return stringType;
}

function inferName(node: Node, scope: FileScope): BicepType {
  if (node.text === "true" || node.text === "false") {
    return boolType;
  }
  if (node.text === "null") {
    return nullType;
  }
  const symbol = scope.symbols.get(node.text);
  switch (symbol?.kind) {
    case "parameter":
      return declaredType(symbol.declaration);
    case "variable":
      // Its own faults are found where it is declared.
      return inferType(symbol.declaration.value, { ...scope, report: () => undefined });
    case "resource":
      return resourceType(scope, symbol.declaration);
    case "module":
      return moduleType(scope, symbol.declaration);
    case "loop":
      return symbol.type;
    default:
      scope.report("name", lineOf(node), `"${node.text}" is not declared`);
      return anyType;
  }
}

function inferObject(node: Node, scope: FileScope): BicepType {
  const properties: Record<string, BicepType> = {};
  let hasOther = false;
  for (const { name, key, value } of objectEntries(node)) {
    if (name === undefined) {
      inferType(key, scope);
      hasOther = true;
    } else if (Object.hasOwn(properties, name)) {
      scope.report("name", lineOf(key), `property "${name}" is given twice`);
    }
    properties[name ?? key.text] = inferType(value, scope);
  }
  return objectType("object", properties, hasOther ? anyType : undefined);
}

function inferLoop(node: Node, scope: FileScope): BicepType {
  const body = node.childForFieldName("body");
  return {
    kind: "array",
    item: body === null ? anyType : inferType(body, enterLoop(node, scope)),
  };
}

/** The scope inside a loop; what it runs over must be an array. */
export function enterLoop(loop: Node, scope: FileScope): FileScope {
  const source = loopSource(loop);
  if (source === undefined) {
    return scope;
  }
  const item = itemType(inferType(source, scope));
  if (item === undefined) {
    scope.report("type", lineOf(source), `a loop needs an array, not ${source.text}`);
  }
  return withLoopVariables(scope, loop, item ?? anyType);
}

/** Type of the items of an array; undefined if the type is no array. */
function itemType(type: BicepType): BicepType | undefined {
  if (type.kind === "any") {
    return anyType;
  }
  if (type.kind === "union") {
    const items = type.options.map(itemType);
    return items.includes(undefined)
      ? undefined
      : unionOf(items.filter((item) => item !== undefined));
  }
  return type.kind === "array" ? type.item : undefined;
}

function inferMember(node: Node, scope: FileScope): BicepType {
  const object = node.childForFieldName("object");
  const name = node.childForFieldName("property")?.text;
  if (object === null || name === undefined) {
    return anyType;
  }
  return memberType(inferType(object, scope), name, () => {
    scope.report("reference", lineOf(node), `"${object.text}" has no "${name}"`);
  });
}

function memberType(type: BicepType, name: string, onMissing: () => void): BicepType {
  if (type.kind === "object") {
    const found = type.property(name)?.type ?? type.others;
    if (found === undefined) {
      onMissing();
    }
    return found ?? anyType;
  }
  if (type.kind === "union") {
    const options = type.options.filter((option) => option.kind !== "null");
    return unionOf(options.map((option) => memberType(option, name, onMissing)));
  }
  if (type.kind !== "any") {
    onMissing();
  }
  return anyType;
}

function inferIndex(node: Node, scope: FileScope): BicepType {
  const object = node.childForFieldName("object");
  const index = node.childForFieldName("index");
  if (index !== null) {
    inferType(index, scope);
  }
  if (object === null) {
    return anyType;
  }
  const type = inferType(object, scope);
  return itemType(type) ?? anyType;
}

function inferCall(node: Node, scope: FileScope): BicepType {
  const called = node.childForFieldName("function");
  const list = node.childForFieldName("arguments");
  const given = list === null ? [] : namedChildren(list);
  const types = given.map((argument) => inferType(argument, scope));
  const name = called?.type === "member_expression" ? called.childForFieldName("property") : called;
  if (isSecretFunction(name?.text ?? "")) {
    // The policy check reports it.
    return anyType;
  }
  if (called?.type !== "identifier") {
    scope.report("function", lineOf(node), `"${called?.text ?? ""}" is not a known function`);
    return anyType;
  }
  const known = Object.hasOwn(builtIns, called.text) ? builtIns[called.text] : undefined;
  if (known === undefined) {
    scope.report("function", lineOf(node), `"${called.text}" is not a known function`);
    return anyType;
  }
  if (given.length < known.argumentsMin || given.length > known.argumentsMax) {
    scope.report("function", lineOf(node), `"${called.text}" takes another number of arguments`);
  }
  return resultOf(called.text, { given, types }) ?? known.result;
}

/** Results that depend on the arguments; undefined for functions where they don't. */
function resultOf(
  name: string,
  { given, types }: { readonly given: readonly Node[]; readonly types: readonly BicepType[] },
): BicepType | undefined {
  const [first] = types;
  if (name === "take" && first !== undefined && isAssignable(first, stringType)) {
    return stringType;
  }
  if (name === "readEnvironmentVariable") {
    // Read when the file is compiled; what is known here is the default, if there is one.
    const value = literalText(given[1]);
    return value === undefined ? anyType : { kind: "literal", value };
  }
  return undefined;
}

function inferChoice(node: Node, scope: FileScope): BicepType {
  const condition = node.childForFieldName("condition");
  if (condition !== null) {
    expectType(condition, boolType, scope);
  }
  const branches = [
    node.childForFieldName("consequence"),
    node.childForFieldName("alternative"),
  ].filter((branch) => branch !== null);
  return unionOf(branches.map((branch) => inferType(branch, scope)));
}

function inferBinary(node: Node, scope: FileScope): BicepType {
  const operator = node.childForFieldName("operator")?.text ?? "";
  const left = node.childForFieldName("left");
  const right = node.childForFieldName("right");
  if (left === null || right === null) {
    return anyType;
  }
  if (operator === "??") {
    return unionOf([inferType(left, scope), inferType(right, scope)]);
  }
  const isLogic = operator === "&&" || operator === "||";
  if (COMPARISONS.has(operator) && !isLogic) {
    checkComparison(node, [inferType(left, scope), inferType(right, scope)], scope);
    return boolType;
  }
  const wanted = isLogic ? boolType : intType;
  expectType(left, wanted, scope);
  expectType(right, wanted, scope);
  return wanted;
}

/** A comparison with a literal that can never be equal is a misspelling. */
function checkComparison(
  node: Node,
  [left, right]: readonly [BicepType, BicepType],
  scope: FileScope,
): void {
  if (!isAssignable(left, right) && !isAssignable(right, left)) {
    const text = `${typeName(left)} and ${typeName(right)} are never equal`;
    scope.report("type", lineOf(node), text);
  }
}

function inferUnary(node: Node, scope: FileScope): BicepType {
  const argument = node.childForFieldName("argument");
  const wanted = node.childForFieldName("operator")?.text === "!" ? boolType : intType;
  if (argument !== null) {
    expectType(argument, wanted, scope);
  }
  return wanted;
}

/** Reports an expression whose type does not fit. */
export function expectType(node: Node, wanted: BicepType, scope: FileScope): void {
  const type = inferType(node, scope);
  if (!isAssignable(type, wanted)) {
    const start = node.text.slice(0, 40);
    const message = `${start}: ${typeName(type)} where ${typeName(wanted)} is wanted`;
    scope.report("type", lineOf(node), message);
  }
}
