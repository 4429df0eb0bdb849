import type { Node } from "web-tree-sitter";
import {
  anyObject,
  anyType,
  boolType,
  intType,
  nullType,
  objectType,
  stringType,
  unionOf,
  type BicepType,
} from "./bicep-type";
import type { BicepDocument, Deployable, NamedValue, Parameter } from "./document";
import type { Report } from "./fault";
import { literalText, namedChildren } from "./parser";
import type { ResourceTypes } from "./resource-types";

/** What a name in a file stands for. */
export type Symbol =
  | { readonly kind: "parameter"; readonly declaration: Parameter }
  | { readonly kind: "variable"; readonly declaration: NamedValue }
  | { readonly kind: "resource" | "module"; readonly declaration: Deployable }
  | { readonly kind: "loop"; readonly type: BicepType };

/** Everything the checks of one file share. */
export interface FileScope {
  readonly document: BicepDocument;
  readonly types: ResourceTypes;
  readonly report: Report;
  /** Opens the file a module declaration points at; undefined if there is none. */
  readonly openModule: (path: string) => BicepDocument | undefined;
  readonly symbols: ReadonlyMap<string, Symbol>;
}

/** Maps the declared names of a file; a name declared twice is a fault. */
export function declareSymbols(
  document: BicepDocument,
  report: Report,
): ReadonlyMap<string, Symbol> {
  const symbols = new Map<string, Symbol>();
  const declare = (name: string, node: Node, symbol: Symbol): void => {
    if (symbols.has(name)) {
      report("name", node.startPosition.row + 1, `"${name}" is declared twice`);
    }
    symbols.set(name, symbol);
  };
  for (const declaration of document.parameters) {
    declare(declaration.name, declaration.node, { kind: "parameter", declaration });
  }
  for (const declaration of document.variables) {
    declare(declaration.name, declaration.node, { kind: "variable", declaration });
  }
  for (const declaration of document.resources) {
    declare(declaration.name, declaration.node, { kind: "resource", declaration });
  }
  for (const declaration of document.modules) {
    declare(declaration.name, declaration.node, { kind: "module", declaration });
  }
  return symbols;
}

/** A scope with the variables of a loop added. */
export function withLoopVariables(scope: FileScope, loop: Node, item: BicepType): FileScope {
  const symbols = new Map(scope.symbols);
  const pair = namedChildren(loop).find((child) => child.type === "for_loop_parameters");
  if (pair === undefined) {
    const single = loop.childForFieldName("initializer");
    if (single) {
      symbols.set(single.text, { kind: "loop", type: item });
    }
  } else {
    const [variable, index] = namedChildren(pair);
    if (variable) {
      symbols.set(variable.text, { kind: "loop", type: item });
    }
    if (index) {
      symbols.set(index.text, { kind: "loop", type: intType });
    }
  }
  return { ...scope, symbols };
}

/** What a loop runs over: the expression between "in" and ":". */
export function loopSource(loop: Node): Node | undefined {
  const children = loop.children;
  const position = children.findIndex((child) => child?.type === "in");
  return children[position + 1] ?? undefined;
}

/** The type a parameter or output declares, narrowed to its allowed values. */
export function declaredType(declaration: {
  readonly typeNode: Node | undefined;
  readonly decorators: Parameter["decorators"];
}): BicepType {
  const allowed = declaration.decorators.find((decorator) => decorator.name === "allowed");
  const values = allowed?.arguments[0];
  if (values?.type === "array") {
    const options = namedChildren(values).map((value): BicepType => {
      const text = literalText(value);
      return text === undefined ? intType : { kind: "literal", value: text };
    });
    return unionOf(options);
  }
  return declaration.typeNode === undefined ? anyType : readTypeText(declaration.typeNode.text);
}

/** Reads the small set of type names that infra/ uses. */
export function readTypeText(text: string): BicepType {
  if (text.endsWith("?")) {
    return unionOf([readTypeText(text.slice(0, -1)), nullType]);
  }
  if (text.endsWith("[]")) {
    return { kind: "array", item: readTypeText(text.slice(0, -2)) };
  }
  const known: Readonly<Record<string, BicepType>> = {
    array: { kind: "array", item: anyType },
    bool: boolType,
    int: intType,
    object: anyObject,
    string: stringType,
  };
  return known[text] ?? anyType;
}

/** The type of a resource as expressions see it. */
export function resourceType(scope: FileScope, declaration: Deployable): BicepType {
  const type = scope.types.find(declaration.target) ?? anyType;
  return declaration.loop === undefined ? type : { kind: "array", item: type };
}

/** The type of a module as expressions see it: its outputs. */
export function moduleType(scope: FileScope, declaration: Deployable): BicepType {
  const target = scope.openModule(declaration.target);
  if (target === undefined) {
    return anyType;
  }
  const outputs = Object.fromEntries(
    target.outputs.map((output) => [output.name, declaredType(output)]),
  );
  return objectType(`module ${declaration.name}`, {
    name: stringType,
    outputs: objectType(`outputs of ${declaration.target}`, outputs),
  });
}
