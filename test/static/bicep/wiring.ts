import type { Node } from "web-tree-sitter";
import { checkAssignment } from "./assign";
import { stringType } from "./bicep-type";
import type { BicepDocument, Deployable } from "./document";
import { expectType, inferType } from "./expression";
import { lineOf, objectEntries, propertyOf } from "./parser";
import { declaredType, type FileScope } from "./scope";

/** Checks a module declaration: path, scope, and parameters against the file it points at. */
export function checkModule(module: Deployable, scope: FileScope): void {
  const line = lineOf(module.node);
  if (/^(br|ts)[:/]/.test(module.target)) {
    // A registry reference cannot be looked into; the policy check reports it.
    return;
  }
  const target = scope.openModule(module.target);
  if (target === undefined) {
    scope.report("module", line, `there is no file "${module.target}"`);
    return;
  }
  if (module.body === undefined) {
    scope.report("syntax", line, `module "${module.name}" has no body`);
    return;
  }
  for (const { name, key, value } of objectEntries(module.body)) {
    if (name === "name") {
      expectType(value, stringType, scope);
    } else if (name === "params") {
      checkParams(value, target, scope);
    } else if (name === "scope" || name === "dependsOn") {
      inferType(value, scope);
    } else {
      scope.report("property", lineOf(key), `a module has no "${key.text}"`);
    }
  }
  if (propertyOf(module.body, "params") === undefined) {
    checkMissing(module.body, new Set(), { target, scope });
  }
  const needsScope = target.targetScope !== scope.document.targetScope;
  if (needsScope && propertyOf(module.body, "scope") === undefined) {
    const text = `"${module.target}" is for a ${target.targetScope}: scope is missing`;
    scope.report("module", line, text);
  }
}

function checkParams(params: Node, target: BicepDocument, scope: FileScope): void {
  const given = new Set<string>();
  for (const { name, key, value } of objectEntries(params)) {
    const parameter = target.parameters.find((known) => known.name === name);
    if (name === undefined || parameter === undefined) {
      scope.report("module", lineOf(key), `${target.file} has no parameter "${key.text}"`);
      continue;
    }
    given.add(name);
    checkAssignment(value, { type: declaredType(parameter) }, scope);
  }
  checkMissing(params, given, { target, scope });
}

function checkMissing(
  at: Node,
  given: ReadonlySet<string>,
  { target, scope }: { readonly target: BicepDocument; readonly scope: FileScope },
): void {
  for (const parameter of target.parameters) {
    if (parameter.defaultNode === undefined && !given.has(parameter.name)) {
      const text = `${target.file} requires parameter "${parameter.name}"`;
      scope.report("module", lineOf(at), text);
    }
  }
}

/** A child resource must name a parent of the type that its own type begins with. */
export function checkParent(resource: Deployable, scope: FileScope): void {
  const parent = propertyOf(resource.body, "parent");
  const segments = typeSegments(resource.target);
  if (parent === undefined) {
    if (segments.length > 2) {
      scope.report("parent", lineOf(resource.node), `"${resource.name}" names no parent`);
    }
    return;
  }
  // An element of a loop of resources: the array before the bracket is what was declared.
  const name = parent.type === "subscript_expression" ? parent.namedChildren[0]?.text : parent.text;
  const symbol = scope.symbols.get(name ?? "");
  const wanted = segments.slice(0, -1).join("/");
  const found = symbol?.kind === "resource" ? symbol.declaration.target : "";
  if (typeSegments(found).join("/") !== wanted) {
    scope.report("parent", lineOf(parent), `the parent of "${resource.name}" must be a ${wanted}`);
  }
}

function typeSegments(target: string): readonly string[] {
  return (target.split("@")[0] ?? "").split("/");
}

/** A resource file may only be scoped to a resource; the file itself must fit what it declares. */
export function checkScope(resource: Deployable, scope: FileScope): void {
  const isGroup = resource.target.startsWith("Microsoft.Resources/resourceGroups@");
  const wanted = isGroup ? "subscription" : "resourceGroup";
  if (scope.document.targetScope !== wanted) {
    const text = `"${resource.name}" needs a file with targetScope '${wanted}'`;
    scope.report("scope", lineOf(resource.node), text);
  }
  const target = propertyOf(resource.body, "scope");
  if (target !== undefined && scope.symbols.get(target.text)?.kind !== "resource") {
    scope.report("scope", lineOf(target), "the scope of a resource must be a resource");
  }
}
