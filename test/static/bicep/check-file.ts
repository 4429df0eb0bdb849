import { checkAssignment } from "./assign";
import { boolType, objectType, anyType, type ObjectType, type PropertyType } from "./bicep-type";
import { decorators as knownDecorators } from "./builtins";
import { isUsed, readDocument, type BicepDocument, type Deployable } from "./document";
import { enterLoop, expectType, inferType } from "./expression";
import { startReport, type Fault, type Report } from "./fault";
import { checkSyntax, lineOf, literalText, namedChildren, type ParseBicep } from "./parser";
import { checkPolicy } from "./policy";
import type { ResourceTypes } from "./resource-types";
import { declaredType, declareSymbols, type FileScope } from "./scope";
import { checkModule, checkParent, checkScope } from "./wiring";

/** What the checks need from outside. */
export interface CheckContext {
  readonly parse: ParseBicep;
  readonly types: ResourceTypes;
  /** Text of a file by its path relative to the root of the repository; undefined if none. */
  readonly read: (file: string) => string | undefined;
  /** Documents that were opened through a module declaration, by their text. */
  readonly opened: Map<string, BicepDocument>;
}

/** Runs every check that concerns one Bicep file. */
export function checkBicepFile(file: string, context: CheckContext): readonly Fault[] {
  const { faults, report } = startReport(file);
  const text = context.read(file);
  if (text === undefined) {
    report("file", 1, "there is no such file");
    return faults;
  }
  const root = context.parse(text);
  checkSyntax(root, report);
  if (faults.length > 0) {
    return faults;
  }
  const document = readDocument(file, root);
  checkDeclarations(openScope(document, report, context));
  checkPolicy(document, report);
  return faults;
}

/** Opens a file for checks of its expressions. */
export function openScope(
  document: BicepDocument,
  report: Report,
  context: CheckContext,
): FileScope {
  return {
    document,
    types: context.types,
    report,
    symbols: declareSymbols(document, report),
    openModule: (path) => openBeside(document.file, path, context),
  };
}

/** Reads the document a path points at, seen from another file. */
export function openBeside(
  from: string,
  path: string,
  context: CheckContext,
): BicepDocument | undefined {
  const parts = from.split("/").slice(0, -1);
  for (const part of path.split("/")) {
    if (part === "..") {
      parts.pop();
    } else if (part !== ".") {
      parts.push(part);
    }
  }
  const file = parts.join("/");
  const text = context.read(file);
  if (text === undefined) {
    return undefined;
  }
  const known = context.opened.get(text) ?? readDocument(file, context.parse(text));
  context.opened.set(text, known);
  return known;
}

function checkDeclarations(scope: FileScope): void {
  const { document } = scope;
  checkParameters(scope);
  for (const variable of document.variables) {
    inferType(variable.value, scope);
    if (!isUsed(document, variable.name, variable.node)) {
      scope.report("unused", lineOf(variable.node), `variable "${variable.name}" is not used`);
    }
  }
  for (const resource of document.resources) {
    checkResource(resource, scope);
  }
  for (const module of document.modules) {
    checkCondition(module, scope);
    checkModule(module, loopScope(module, scope));
  }
  for (const output of document.outputs) {
    checkAssignment(output.value, { type: declaredType(output) }, scope);
    if (!output.decorators.some((decorator) => decorator.name === "description")) {
      scope.report("description", lineOf(output.node), `output "${output.name}" is not described`);
    }
  }
}

function checkParameters(scope: FileScope): void {
  for (const parameter of scope.document.parameters) {
    const { report } = scope;
    const line = lineOf(parameter.node);
    const kind = parameter.defaultNode === undefined ? "Required. " : "Optional. ";
    const described = parameter.decorators.find(({ name }) => name === "description");
    const text = literalText(described?.arguments[0]) ?? "";
    if (!text.startsWith(kind) && !text.startsWith("Conditional. ")) {
      report("description", line, `the description of "${parameter.name}" must start: ${kind}`);
    }
    for (const { name, node, arguments: given } of parameter.decorators) {
      if (knownDecorators[name] !== given.length) {
        report("function", lineOf(node), `"@${name}" is not known, or not with these arguments`);
      }
    }
    if (parameter.defaultNode !== undefined) {
      checkAssignment(parameter.defaultNode, { type: declaredType(parameter) }, scope);
    }
    if (!isUsed(scope.document, parameter.name, parameter.node)) {
      report("unused", line, `parameter "${parameter.name}" is not used`);
    }
  }
}

function checkResource(resource: Deployable, scope: FileScope): void {
  const line = lineOf(resource.node);
  const type = scope.types.find(resource.target);
  if (type === undefined) {
    const [name = "", version = ""] = resource.target.split("@");
    const versions = scope.types.versionsOf(name);
    const known = versions.length === 0 ? "" : ` (known: ${versions.join(", ")}, not ${version})`;
    scope.report("resource-type", line, `no type "${resource.target}" in types.json${known}`);
    return;
  }
  const inner = loopScope(resource, scope);
  checkCondition(resource, scope);
  checkParent(resource, inner);
  checkScope(resource, inner);
  if (resource.body === undefined) {
    scope.report("syntax", line, `resource "${resource.name}" has no body`);
    return;
  }
  const wanted = resource.isExisting ? existingType(type) : deployedType(type);
  checkAssignment(resource.body, { type: wanted }, inner);
  if (resource.isExisting && !isUsed(scope.document, resource.name, resource.node)) {
    scope.report("unused", line, `existing resource "${resource.name}" is not used`);
  }
}

/** Properties that Bicep adds to every resource. */
const META = objectType("resource", {
  parent: anyType,
  scope: anyType,
  dependsOn: { kind: "array", item: anyType },
});

function deployedType(type: ObjectType): ObjectType {
  return {
    ...type,
    property: (name): PropertyType | undefined => META.property(name) ?? type.property(name),
  };
}

/** Of an existing resource only its name is given. */
function existingType(type: ObjectType): ObjectType {
  const isKept = (name: string): boolean => name === "name";
  return {
    kind: "object",
    name: `existing ${type.name}`,
    property: (name) => (isKept(name) ? type.property(name) : META.property(name)),
    names: () => type.names().filter(isKept),
    others: undefined,
  };
}

function loopScope(declaration: Deployable, scope: FileScope): FileScope {
  return declaration.loop === undefined ? scope : enterLoop(declaration.loop, scope);
}

function checkCondition(declaration: Deployable, scope: FileScope): void {
  if (!declaration.isConditional) {
    return;
  }
  const holder = declaration.loop ?? declaration.node;
  const choice = namedChildren(holder).find((child) => child.type === "if_statement");
  const condition = choice === undefined ? undefined : namedChildren(choice)[0];
  if (condition !== undefined) {
    expectType(condition, boolType, loopScope(declaration, scope));
  }
}
