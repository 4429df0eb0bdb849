import type { Dice } from "../../support/dice";

/** A JSON Schema of the document. */
export type Schema = Readonly<Record<string, unknown>>;

/** Values that stand for what must exist: by the member's name. */
export type Names = Readonly<Record<string, unknown>>;

const alphabet = ["a", "Z", "7", "-", "_", "é", "日", "😀", "'", '"', "\\", "{"];

/** A value that keeps to the schema, but for relations between members. */
export function valueOf(schema: Schema, dice: Dice, names: Names): unknown {
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly Schema[] | undefined;
  if (branches !== undefined) return valueOf(dice.pick(branches), dice, names);
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return dice.pick(schema["enum"]);
  const types = [schema["type"]].flat();
  switch (dice.pick(types)) {
    case "null":
      return null;
    case "boolean":
      return dice.int(0, 1) === 1;
    case "integer":
      return integerOf(schema, dice);
    case "string":
      return textOf(schema, dice);
    case "array":
      return itemsOf(schema, dice, names);
    case "object":
      return objectOf(schema, dice, names);
    default:
      throw new Error(`No value is known for ${JSON.stringify(schema)}`);
  }
}

function integerOf({ minimum = -5, maximum = 5 }: Schema, dice: Dice): number {
  const [min, max] = [Number(minimum), Number(maximum)];
  return dice.pick([min, max, Math.min(min + 1, max), Math.max(min, Math.floor((min + max) / 2))]);
}

function textOf({ pattern, format, minLength = 1, maxLength = 20 }: Schema, dice: Dice): string {
  if (format === "uuid")
    return `${hex(dice, 8)}-${hex(dice, 4)}-4${hex(dice, 3)}-8${hex(dice, 3)}-${hex(dice, 12)}`;
  if (format === "date-time") {
    const day = `${String(dice.int(2020, 2040))}-0${String(dice.int(1, 9))}-1${String(dice.int(0, 9))}`;
    return `${day}T0${String(dice.int(0, 9))}:30:00${dice.pick(["Z", ".5Z", "+02:00", "-11:30"])}`;
  }
  if (typeof pattern === "string" && pattern.includes("[0-9a-f]"))
    return `00-${hex(dice, 32)}-${hex(dice, 16)}-01`;
  if (typeof pattern === "string" && pattern.includes("[0-9]{1,19}"))
    return dice.pick(["1", "17", "999999999999999999", String(dice.int(1, 1_000_000))]);
  if (typeof pattern === "string" && pattern.startsWith("^[A-Za-z_]"))
    return dice.pick(["customer.id=42", "name=", "a_1=b=c"]);
  const length = dice.pick([Number(minLength), Math.min(Number(maxLength), 20), Number(maxLength)]);
  let made = "";
  while (made.length < length) {
    const next = dice.pick(alphabet);
    made += made.length + next.length > length ? "a" : next;
  }
  return made;
}

function hex(dice: Dice, length: number): string {
  return Array.from({ length }, () => dice.int(0, 15).toString(16)).join("");
}

function itemsOf({ items, minItems = 0 }: Schema, dice: Dice, names: Names): unknown[] {
  if (items === undefined) return dice.pick([[], [1, "two", null]]);
  const length = dice.int(Math.max(Number(minItems), 1), 3);
  return Array.from({ length }, () => valueOf(items as Schema, dice, names));
}

function objectOf(schema: Schema, dice: Dice, names: Names): Record<string, unknown> {
  const properties = schema["properties"] as Readonly<Record<string, Schema>> | undefined;
  if (properties === undefined) return dice.pick([{}, { a: 1, b: { c: ["d"] } }]);
  const required = schema["required"] as readonly string[];
  const chosen = Object.entries(properties).filter(
    ([name]) => required.includes(name) || dice.int(0, 2) === 0,
  );
  return Object.fromEntries(
    chosen.map(([name, member]) => [
      name,
      Object.hasOwn(names, name) ? names[name] : valueOf(member, dice, names),
    ]),
  );
}

/** A body with one thing wrong, and the member that is named for it. */
export interface BrokenBody {
  readonly title: string;
  readonly member: string;
  readonly body: unknown;
}

/** Bodies made of a good one, each with one thing wrong. `schema` is that of an object, or of one of several objects. */
export function brokenBodies(schema: Schema, good: unknown): BrokenBody[] {
  const branches = (schema["oneOf"] ?? [schema]) as readonly Schema[];
  const members = good as Readonly<Record<string, unknown>>;
  const branch = branches.find(({ properties, required }) =>
    (required as readonly string[]).every(
      (name) => name in members && Object.hasOwn(properties as object, name),
    ),
  );
  if (branch === undefined) throw new Error(`No branch fits ${JSON.stringify(good)}`);
  const properties = branch["properties"] as Readonly<Record<string, Schema>>;
  const required = branch["required"] as readonly string[];
  return [
    { title: "an unknown member", member: "nonsense", body: { ...members, nonsense: 1 } },
    ...["a text", 5, [members]].map((body) => ({ title: "no object", member: "body", body })),
    ...required
      .filter(() => branches.length === 1)
      .map((name) => {
        const rest = Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));
        return { title: `${name} left out`, member: name, body: rest };
      }),
    ...Object.entries(properties).flatMap(([name, member]) =>
      brokenValues(member).map((value) => ({
        title: `${name} is ${JSON.stringify(value).slice(0, 40)}`,
        member: name,
        body: { ...members, [name]: value },
      })),
    ),
  ];
}

/** Values of which most break any schema; the caller keeps those that do. */
function brokenValues({ minimum, maximum, maxLength, minItems, items }: Schema): unknown[] {
  const outside = [
    ...(typeof minimum === "number" ? [minimum - 1] : []),
    ...(typeof maximum === "number" ? [maximum + 1] : []),
    ...(typeof maxLength === "number" ? ["x".repeat(maxLength + 1)] : []),
    ...(minItems === 1 ? [[]] : []),
    ...(items === undefined ? [] : [[5.5], ["x y"], [{ nonsense: 1 }]]),
  ];
  return [...outside, "", " x", "nonsense\u0000", 1.5, -1, true, ["a"], { nonsense: 1 }, "17x"];
}
