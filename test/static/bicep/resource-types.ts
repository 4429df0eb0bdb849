import { readFileSync } from "node:fs";
import {
  anyObject,
  anyType,
  boolType,
  intType,
  nullType,
  stringType,
  unionOf,
  type BicepType,
  type ObjectType,
  type PropertyType,
} from "./bicep-type";

type ObjectText = Readonly<Record<string, string>>;

interface ResourceText {
  readonly source: "package" | "documentation";
  readonly objects: Readonly<Record<string, ObjectText>>;
}

/** Official resource types by "provider/type@version". */
export interface ResourceTypes {
  find(resource: string): ObjectType | undefined;
  /** Versions known of a type, for messages. */
  versionsOf(type: string): readonly string[];
}

const SCALARS: Readonly<Record<string, BicepType>> = {
  any: anyType,
  bool: boolType,
  int: intType,
  null: nullType,
  object: anyObject,
  string: stringType,
};

/** Reads infra/schema/types.json; infra/schema/README.md describes the format. */
export function loadResourceTypes(path: string): ResourceTypes {
  const file = JSON.parse(readFileSync(path, "utf8")) as {
    readonly resources: Readonly<Record<string, ResourceText>>;
  };
  return {
    find: (resource) => {
      const text = Object.hasOwn(file.resources, resource) ? file.resources[resource] : undefined;
      return text === undefined ? undefined : readObject("Body", resource, text.objects);
    },
    versionsOf: (type) =>
      Object.keys(file.resources)
        .filter((resource) => resource.startsWith(`${type}@`))
        .map((resource) => resource.slice(type.length + 1)),
  };
}

function readObject(
  name: string,
  resource: string,
  objects: Readonly<Record<string, ObjectText>>,
): ObjectType {
  const own = objects[name] ?? {};
  const others = own["*"];
  const readText = (text: string): BicepType => readType(text, resource, objects);
  return {
    kind: "object",
    name: name === "Body" ? resource : name,
    property: (key): PropertyType | undefined => {
      const text = key !== "*" && Object.hasOwn(own, key) ? own[key] : undefined;
      if (text === undefined) {
        return undefined;
      }
      return {
        type: readText(text.replace(/^(readonly|required) /, "")),
        isRequired: text.startsWith("required "),
        isReadOnly: text.startsWith("readonly "),
      };
    },
    names: () => Object.keys(own).filter((key) => key !== "*"),
    others: others === undefined ? undefined : readText(others),
  };
}

function readType(
  text: string,
  resource: string,
  objects: Readonly<Record<string, ObjectText>>,
): BicepType {
  const parts = text.match(/'[^']*'(\[\])*|[^|]+/g) ?? [];
  const options = parts
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part): BicepType => {
      if (part.endsWith("[]")) {
        return { kind: "array", item: readType(part.slice(0, -2), resource, objects) };
      }
      if (part.startsWith("'")) {
        return { kind: "literal", value: part.slice(1, -1) };
      }
      return SCALARS[part] ?? readObject(part, resource, objects);
    });
  return unionOf(options);
}
