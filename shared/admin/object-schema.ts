import { z } from "zod";
import { isObject } from "../core/foreign-value";
import { ProblemList } from "./problem-list";
import { shownLengthMax, showValue } from "./read-result";
import type { ReadResult } from "./read-result";

/**
 * Reads objects from outside by schemas of zod, and turns every issue into a problem of ours. The schema says what a member
 * must be; null counts as left out where the schema doesn't allow it; a member that the schema doesn't name is a problem.
 */

type Members = Readonly<Record<string, unknown>>;

/** A checked object; `Renamed` maps members of the input to other names. */
type Checked<Members, Renamed> = {
  readonly [
    Name in keyof Members as Name extends keyof Renamed ? Renamed[Name] & string : Name
  ]: Members[Name];
};

/** What members are to each other. */
interface Relation {
  /** The member that is named, where `given` breaks the relation, and the expectation. */
  readonly broken: (given: Members) => readonly [name: string, expected: string] | null;
  /** It is the only problem that is told of the member. */
  readonly isAlone?: boolean;
  /** The same as JSON Schema, beside the members. */
  readonly json: Readonly<Record<string, object>>;
}

/** What a schema of an object may say beside its members. */
interface ObjectOptions<Renamed> {
  readonly relations?: readonly Relation[];
  /** Names in the checked object, by the name in the input. */
  readonly names?: Renamed;
  /** Members that go together, where there are several forms; the document shows these in place of the relations. */
  readonly forms?: readonly {
    readonly needs: readonly string[];
    readonly may: readonly string[];
  }[];
  /** What it is called where it isn't an object; default `body`. */
  readonly root?: string;
  /** Nothing at all is an object without members. */
  readonly isOptional?: true;
  /** Other members are ignored. */
  readonly isOpen?: true;
  /** Members that another reader takes: named among the known ones. */
  readonly others?: readonly string[];
}

/** Where an object stands in the input, and where its problems go. */
interface Place {
  readonly problems: ProblemList;
  /** Put before the names of fields: `tasks[3]`. */
  readonly path?: string;
}

/** The schema of an object, compiled once. Called with an input it answers the checked object, or every problem. */
export interface ObjectSchema<Value> {
  (input: unknown): ReadResult<Value>;
  readonly schema: z.ZodObject<z.ZodRawShape>;
  readonly options: ObjectOptions<unknown>;
  /** The checked object, or null and its problems in `place`. */
  readonly readAt: (input: unknown, place: Place) => Value | null;
}

/** The value that a schema reads. */
export type ValueOf<Schema> = Schema extends ObjectSchema<infer Value> ? Value : never;

/** Makes the schema of an object. Members are read, and their problems told, in the order of `shape`. */
export function objectOf<
  Shape extends z.ZodRawShape,
  const Renamed extends { readonly [Name in keyof Shape]?: string } = object,
>(
  shape: Shape,
  options: ObjectOptions<Renamed> = {},
): ObjectSchema<Checked<z.output<z.ZodObject<Shape>>, Renamed>> {
  type Value = Checked<z.output<z.ZodObject<Shape>>, Renamed>;
  const reader = new MemberReader(z.strictObject(shape), options);
  const readAt = (input: unknown, place: Place): Value | null =>
    reader.read(options.isOptional === true ? (input ?? {}) : input, place) as Value | null;
  const read = (input: unknown): ReadResult<Value> => {
    const problems = new ProblemList();
    return resultOf(readAt(input, { problems }), problems);
  };
  return Object.assign(read, { schema: reader.schema, options, readAt });
}

/** Makes the schema of a list's query, whose values are texts: the cursor is read apart. */
export function listQueryOf<
  Shape extends z.ZodRawShape,
  const Renamed extends { readonly [Name in keyof Shape]?: string } = object,
>(shape: Shape, names?: Renamed): ObjectSchema<Checked<z.output<z.ZodObject<Shape>>, Renamed>> {
  const others = ["cursor"];
  return objectOf(shape, { root: "query", others, ...(names === undefined ? {} : { names }) });
}

/** What `objectOf` makes reads by this with any members. */
class MemberReader {
  readonly schema: z.ZodObject<z.ZodRawShape>;
  readonly #options: ObjectOptions<Readonly<Record<string, string>>>;
  readonly #known: readonly string[];
  readonly #takesNull: ReadonlySet<string>;

  constructor(schema: z.ZodObject<z.ZodRawShape>, options: ObjectOptions<object>) {
    this.schema = schema;
    this.#options = options as ObjectOptions<Readonly<Record<string, string>>>;
    this.#known = Object.keys(schema.shape);
    const entries = Object.entries(schema.shape);
    const takers = entries.filter(([, member]) => z.safeParse(member, null).success);
    this.#takesNull = new Set(takers.map(([name]) => name));
  }

  read(input: unknown, { problems, path = "" }: Place): object | null {
    const { relations = [], root = "body", names = {} } = this.#options;
    if (!isObject(input)) {
      const expected = `a JSON object${this.#known.length === 0 ? "" : ` with ${this.#known.join(", ")}`}`;
      const field = path === "" ? root : path;
      problems.add(() => ({ field, value: showValue(input), expected }));
      return null;
    }
    const before = problems.count;
    const refuse = (name: string, expected: () => string, index?: number): void => {
      const member = Object.hasOwn(input, name) ? input[name] : undefined;
      const entry = index === undefined ? "" : `[${String(index)}]`;
      const value = index === undefined ? member : (member as readonly unknown[])[index];
      const field = `${path === "" ? "" : `${path}.`}${name.slice(0, shownLengthMax)}${entry}`;
      problems.add(() => ({ field, value: showValue(value), expected: expected() }));
    };
    const given: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(input)) {
      if (!this.#known.includes(name)) {
        if (this.#options.isOpen !== true) refuse(name, () => this.#unknown(name, problems));
      } else if (value !== undefined && (value !== null || this.#takesNull.has(name)))
        given[name] = value;
    }
    const broken = relations.flatMap((relation) => {
      const found = relation.broken(given);
      return found === null ? [] : [{ relation, name: found[0], expected: found[1] }];
    });
    const isTold = new Set(broken.filter((each) => each.relation.isAlone).map(({ name }) => name));
    const { value, issues } = parse(this.schema, given);
    for (const issue of issues) {
      const name = String(issue.path?.[0]);
      if (isTold.has(name)) continue;
      isTold.add(name);
      const index = issue.path?.[1];
      const isEntry = typeof index === "number" && Array.isArray(given[name]);
      refuse(name, () => sentenceOf(issue, given[name], problems), isEntry ? index : undefined);
    }
    for (const { name, expected } of broken) refuse(name, () => expected);
    if (problems.count > before) return null;
    const members = Object.entries(value as Members);
    return Object.fromEntries(members.map(([name, member]) => [names[name] ?? name, member]));
  }

  #unknown(name: string, problems: ProblemList): string {
    const known = [...this.#known, ...(this.#options.others ?? [])];
    const near = problems.nearTo(name, known);
    const expected = known.length === 0 ? "no members" : `one of the members ${known.join(", ")}`;
    return near === "" ? expected : `${expected}.${near}`;
  }
}

/** As `safeParse`, without an error object and a sentence for each issue: one input may hold 10,000 bad objects. */
function parse(schema: z.ZodObject<z.ZodRawShape>, value: Members): z.core.ParsePayload {
  const parsed = schema._zod.run({ value, issues: [] }, { async: false });
  if (parsed instanceof Promise) throw new z.core.$ZodAsyncError();
  return parsed;
}

/** Stands for an object in another one, which is read by a schema of its own. */
const nestedObjects = new WeakMap<z.core.$ZodType, ObjectSchema<unknown>>();

/** What `place` says of an object that is read apart: `object` is its schema in the document. */
export function nested<Place extends z.ZodType>(
  object: ObjectSchema<unknown>,
  place: Place,
): Place {
  nestedObjects.set(place, object);
  return place;
}

/** The checked value, unless there are problems. */
export function resultOf<Value>(value: Value | null, problems: ProblemList): ReadResult<Value> {
  return value !== null && problems.isEmpty
    ? { ok: true, value }
    : { ok: false, ...problems.answer() };
}

/** Reads one value that stands for itself: a parameter of a path, an argument. */
export function readValue<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  field: string,
): ReadResult<z.output<Schema>> {
  const read = schema.safeParse(input);
  if (read.success) return { ok: true, value: read.data };
  const expected = read.error.issues[0]?.message ?? "another value";
  return { ok: false, problems: [{ field, value: showValue(input), expected }] };
}

/** The expected value, and the near word where it is one of some words. */
function sentenceOf(issue: z.core.$ZodRawIssue, given: unknown, problems: ProblemList): string {
  const { message } = z.core.util.finalizeIssue(issue, { async: false }, z.core.config());
  if (issue.code !== "invalid_value" || typeof given !== "string") return message;
  const near = problems.nearTo(given, issue.values.map(String));
  return near === "" ? message : `${message}.${near}`;
}

/** The JSON Schema of what a client sends, for the OpenAPI document. */
export function jsonOf(schema: z.core.$ZodType): Record<string, unknown> {
  const json: Record<string, unknown> = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const object = nestedObjects.get(zodSchema);
      if (object !== undefined) Object.assign(jsonSchema, jsonOfObject(object));
    },
  });
  // The document says it once for all.
  delete json["$schema"];
  return json;
}

/** The JSON Schema of an object: one of its forms, or its members and their relations. */
export function jsonOfObject({ schema, options }: ObjectSchema<unknown>): Record<string, unknown> {
  const { forms, relations = [] } = options;
  const oneOf = forms?.map(({ needs, may }) => {
    const names = Object.entries(schema.shape).filter(([name]) =>
      [...needs, ...may].includes(name),
    );
    return { ...jsonOf(z.strictObject(Object.fromEntries(names))), required: needs };
  });
  if (oneOf !== undefined) return { oneOf };
  const json: Record<string, unknown> = { required: [], ...jsonOf(schema) };
  for (const [word, value] of relations.flatMap((relation) => Object.entries(relation.json)))
    json[word] = { ...(json[word] as object), ...value };
  return json;
}

const has = (given: Members, name: string): boolean => (given[name] ?? null) !== null;

/** Two members of which one may be there. */
export function notBoth(name: string, other: string): Relation {
  return {
    broken: (given) =>
      has(given, name) && has(given, other) ? [name, `either ${name} or ${other}, not both`] : null,
    json: { not: { required: [name, other] } },
  };
}

/** A member that says nothing without another one; null stands for none. */
export function onlyWith(name: string, other: string): Relation {
  const needed = { required: [other], properties: { [other]: { not: { type: "null" } } } };
  return {
    broken: (given) =>
      has(given, name) && !has(given, other) ? [name, `it only together with ${other}`] : null,
    json: { dependentSchemas: { [name]: needed } },
  };
}

/** Two members of which one must be there. The document says it by its forms. */
export function needsOne(name: string, other: string, expected: string): Relation {
  return {
    broken: (given) => (has(given, name) || has(given, other) ? null : [name, expected]),
    json: {},
  };
}

/** A relation whose member isn't read where it is broken. */
export function alone(relation: Relation): Relation {
  return { ...relation, isAlone: true };
}
