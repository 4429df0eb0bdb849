import type { Node } from "web-tree-sitter";
import { findNodes, lineOf, literalText, objectEntries } from "./parser";

/** A file with one property name misspelt. */
export interface Mutation {
  readonly line: number;
  readonly name: string;
  readonly text: string;
}

/**
 * Misspells each property inside resources and modules in turn, to see that the checks look
 * everywhere. Left out are objects that may hold any property: tags, and names computed by
 * interpolation.
 */
export function mutations(root: Node, text: string): readonly Mutation[] {
  const isDeployable = (node: Node): boolean =>
    ["resource_declaration", "module_declaration"].includes(node.type);
  return findNodes(root, isDeployable).flatMap((declaration) =>
    findNodes(declaration, (node) => node.type === "object").flatMap((object) =>
      objectEntries(object).flatMap(({ name, key }) => {
        if (name === undefined || isFreeForm(object)) {
          return [];
        }
        const inner = literalText(key) === undefined ? key.endIndex : key.endIndex - 1;
        const changed = `${text.slice(0, inner)}x${text.slice(inner)}`;
        return [{ line: lineOf(key), name, text: changed }];
      }),
    ),
  );
}

/** Whether an object is part of the value of "tags". */
function isFreeForm(object: Node): boolean {
  for (let node: Node | null = object; node !== null; node = node.parent) {
    if (node.type === "object_property" && node.namedChildren[0]?.text === "tags") {
      return true;
    }
  }
  return false;
}
