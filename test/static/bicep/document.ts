import type { Node } from "web-tree-sitter";
import { findNodes, literalText, namedChildren } from "./parser";

/** A declared parameter. */
export interface Parameter {
  readonly name: string;
  readonly node: Node;
  readonly typeNode: Node | undefined;
  readonly defaultNode: Node | undefined;
  readonly decorators: readonly Decorator[];
}

/** A decorator above a declaration. */
export interface Decorator {
  readonly name: string;
  readonly node: Node;
  readonly arguments: readonly Node[];
}

/** A variable, or an output with its declared type. */
export interface NamedValue {
  readonly name: string;
  readonly node: Node;
  readonly typeNode: Node | undefined;
  readonly value: Node;
  readonly decorators: readonly Decorator[];
}

/** A resource or module declaration. */
export interface Deployable {
  readonly name: string;
  readonly node: Node;
  /** "provider/type@version" of a resource, path of a module. */
  readonly target: string;
  readonly isExisting: boolean;
  readonly isConditional: boolean;
  /** Set if the declaration is a loop: its variables and what it runs over. */
  readonly loop: Node | undefined;
  /** The object literal; undefined if there is none to check. */
  readonly body: Node | undefined;
}

/** A Bicep file, taken apart. */
export interface BicepDocument {
  /** Path relative to the root of the repository. */
  readonly file: string;
  readonly root: Node;
  readonly targetScope: string;
  readonly parameters: readonly Parameter[];
  readonly variables: readonly NamedValue[];
  readonly resources: readonly Deployable[];
  readonly modules: readonly Deployable[];
  readonly outputs: readonly NamedValue[];
}

/** Sorts the declarations of a file. Decorators belong to the declaration that follows them. */
export function readDocument(file: string, root: Node): BicepDocument {
  const parameters: Parameter[] = [];
  const variables: NamedValue[] = [];
  const resources: Deployable[] = [];
  const modules: Deployable[] = [];
  const outputs: NamedValue[] = [];
  let targetScope = "resourceGroup";
  let decorators: readonly Decorator[] = [];
  for (const node of namedChildren(root)) {
    switch (node.type) {
      case "decorators":
        decorators = readDecorators(node);
        continue;
      case "target_scope_assignment":
        targetScope = literalText(namedChildren(node)[0]) ?? targetScope;
        break;
      case "parameter_declaration":
        parameters.push(readParameter(node, decorators));
        break;
      case "variable_declaration":
        variables.push(...readNamedValue(node, decorators));
        break;
      case "output_declaration":
        outputs.push(...readNamedValue(node, decorators));
        break;
      case "resource_declaration":
        resources.push(...readDeployable(node));
        break;
      case "module_declaration":
        modules.push(...readDeployable(node));
        break;
      default:
        break;
    }
    decorators = [];
  }
  return { file, root, targetScope, parameters, variables, resources, modules, outputs };
}

function readDecorators(node: Node): readonly Decorator[] {
  return namedChildren(node).flatMap((decorator) => {
    const call = namedChildren(decorator)[0];
    const name = call?.childForFieldName("function")?.text;
    const list = call?.childForFieldName("arguments");
    if (name === undefined || !list) {
      return [];
    }
    return [{ name, node: decorator, arguments: namedChildren(list) }];
  });
}

function readParameter(node: Node, decorators: readonly Decorator[]): Parameter {
  const [identifier, ...rest] = namedChildren(node);
  const typeNode = rest.find((child) => isTypeNode(child));
  const defaultNode = rest.find((child) => !isTypeNode(child));
  return { name: identifier?.text ?? "", node, typeNode, defaultNode, decorators };
}

function isTypeNode(node: Node): boolean {
  return ["type", "nullable_type", "array_type", "primitive_type"].includes(node.type);
}

function readNamedValue(node: Node, decorators: readonly Decorator[]): readonly NamedValue[] {
  const [identifier, ...rest] = namedChildren(node);
  const typeNode = rest.find((child) => isTypeNode(child));
  const value = rest.find((child) => !isTypeNode(child));
  if (identifier === undefined || value === undefined) {
    return [];
  }
  return [{ name: identifier.text, node, typeNode, value, decorators }];
}

function readDeployable(node: Node): readonly Deployable[] {
  const [identifier, target, value] = namedChildren(node);
  if (identifier === undefined || target === undefined) {
    return [];
  }
  const loop = value?.type === "for_statement" ? value : undefined;
  const inner = loop === undefined ? value : (loop.childForFieldName("body") ?? undefined);
  const isConditional = inner?.type === "if_statement";
  const body = isConditional
    ? namedChildren(inner).find((child) => child.type === "object")
    : inner;
  return [
    {
      name: identifier.text,
      node,
      target: literalText(target) ?? "",
      isExisting: node.children.some((child) => child?.type === "existing"),
      isConditional,
      loop,
      body: body?.type === "object" ? body : undefined,
    },
  ];
}

/** Whether a name is used anywhere outside its own declaration. */
export function isUsed(document: BicepDocument, name: string, declaration: Node): boolean {
  return findNodes(document.root, (node) => node.type === "identifier" && node.text === name).some(
    (node) => !isWithin(node, declaration) && !isKeyOrName(node),
  );
}

function isWithin(node: Node, outer: Node): boolean {
  return node.startIndex >= outer.startIndex && node.endIndex <= outer.endIndex;
}

/** Keys of objects, names of functions and names being declared are not uses. */
function isKeyOrName(node: Node): boolean {
  const parent = node.parent;
  if (parent === null) {
    return false;
  }
  const isFirst = parent.namedChildren[0]?.id === node.id;
  if (parent.type === "object_property" || parent.type.endsWith("_declaration")) {
    return isFirst;
  }
  return parent.type === "call_expression" && isFirst;
}
