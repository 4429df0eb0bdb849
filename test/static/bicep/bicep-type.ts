/** A type as Bicep sees it, as far as these checks need it. */
export type BicepType =
  | { readonly kind: "any" | "null" | "string" | "int" | "bool" }
  | { readonly kind: "literal"; readonly value: string }
  | { readonly kind: "array"; readonly item: BicepType }
  | { readonly kind: "union"; readonly options: readonly BicepType[] }
  | ObjectType;

/** An object. Its properties are read when asked for: official types refer to each other. */
export interface ObjectType {
  readonly kind: "object";
  /** Name for messages. */
  readonly name: string;
  property(name: string): PropertyType | undefined;
  /** Names of all declared properties. */
  names(): readonly string[];
  /** Type of properties with any other name, if they are allowed. */
  readonly others: BicepType | undefined;
}

/** A property of an object type. */
export interface PropertyType {
  readonly type: BicepType;
  readonly isRequired: boolean;
  readonly isReadOnly: boolean;
}

/** The types without parts. */
export const anyType: BicepType = { kind: "any" };
/** Null. */
export const nullType: BicepType = { kind: "null" };
/** Any text. */
export const stringType: BicepType = { kind: "string" };
/** Any whole number. */
export const intType: BicepType = { kind: "int" };
/** True or false. */
export const boolType: BicepType = { kind: "bool" };

/** An object that may hold anything. */
export const anyObject: ObjectType = objectType("object", {}, anyType);

/** Joins options; one option stands for itself. */
export function unionOf(options: readonly BicepType[]): BicepType {
  const [first] = options;
  return options.length === 1 && first !== undefined ? first : { kind: "union", options };
}

/** An object type from a plain record. */
export function objectType(
  name: string,
  properties: Readonly<Record<string, BicepType>>,
  others?: BicepType,
): ObjectType {
  return {
    kind: "object",
    name,
    property: (key) => {
      const type = Object.hasOwn(properties, key) ? properties[key] : undefined;
      return type === undefined ? undefined : { type, isRequired: false, isReadOnly: false };
    },
    names: () => Object.keys(properties),
    others,
  };
}

/** Short text of a type for messages. */
export function typeName(type: BicepType): string {
  switch (type.kind) {
    case "literal":
      return `'${type.value}'`;
    case "array":
      return `${typeName(type.item)}[]`;
    case "union":
      return type.options.map(typeName).join(" | ");
    case "object":
      return type.name;
    default:
      return type.kind;
  }
}

/**
 * Whether a value of one type may stand where another is wanted. Official enumerations are open
 * (any text is legal); a literal that is none of the known ones is taken for a misspelling.
 */
export function isAssignable(source: BicepType, target: BicepType): boolean {
  if (source.kind === "any" || target.kind === "any") {
    return true;
  }
  if (source.kind === "union") {
    return source.options.every((option) => isAssignable(option, target));
  }
  if (target.kind === "union") {
    const literals = target.options.filter((option) => option.kind === "literal");
    if (source.kind === "literal" && literals.length > 0) {
      return literals.some((option) => option.value === source.value);
    }
    return target.options.some((option) => isAssignable(source, option));
  }
  switch (target.kind) {
    case "string":
      return source.kind === "string" || source.kind === "literal";
    case "literal":
      return source.kind === "literal" && source.value === target.value;
    case "array":
      return source.kind === "array" && isAssignable(source.item, target.item);
    case "object":
      return source.kind === "object" && areObjectsAssignable(source, target);
    default:
      return source.kind === target.kind;
  }
}

function areObjectsAssignable(source: ObjectType, target: ObjectType): boolean {
  return source.names().every((name) => {
    const wanted = target.property(name)?.type ?? target.others;
    const given = source.property(name);
    return wanted !== undefined && given !== undefined && isAssignable(given.type, wanted);
  });
}
