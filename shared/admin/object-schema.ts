import { z } from "zod";
import { ProblemList } from "./problem-list";
import { shownLengthMax, showValue } from "./object-reader";
import type { ReadResult } from "./object-reader";

/**
 * Reads objects from outside by schemas of zod, and turns every issue into a problem of ours. The schema says what a member
 * must be; null counts as left out where the schema doesn't allow it; a member that the schema doesn't name is a problem.
 */

type Members = Readonly<Record<string, unknown>>;
type Names = Readonly<Record<string, string>>;

/** A checked object; `Renamed` maps members of the input to other names. */
type Checked<Shape extends z.ZodRawShape, Renamed extends Names> = {
  readonly [Name in keyof z.output<z.ZodObject<Shape>> as NameOf<Name, Renamed>]: z.output<
    z.ZodObject<Shape>
  >[Name];
};
type NameOf<Name, Renamed> = string extends keyof Renamed
  ? Name
  : Name extends keyof Renamed
    ? Renamed[Name]
    : Name;

/** The value that a schema reads. */
export type ValueOf<Schema> = Schema extends ObjectSchema<infer Value> ? Value : never;

/** What members are to each other. */
export interface Relation {
  /** The member that is named, where `given` breaks the relation, and what is expected. */
  readonly broken: (given: Members) => readonly [name: string, expected: string] | null;
  /** The same as JSON Schema, beside the members. */
  readonly json: Readonly<Record<string, object>>;
}

/** Members that go together. */
interface Form {
  readonly needs: readonly string[];
  readonly may: readonly string[];
}

/** What a schema of an object may say beside its members. */
interface ObjectOptions<Renamed extends Names> {
  readonly relations?: readonly Relation[];
  /** Names in the checked object, by the name in the input. */
  readonly names?: Renamed;
  /** Where the members are of several forms; the document shows these in place of the relations. */
  readonly forms?: readonly Form[];
  /** What it is called where it isn't an object; default `body`. */
  readonly root?: string;
  /** Other members are nobody's concern. */
  readonly isOpen?: true;
}

/** Where an object stands in the input, and where its problems go. */
export interface Place {
  readonly problems: ProblemList;
  /** Put before the names of fields: `tasks[3]`. */
  readonly path?: string;
}

/** The schema of one object, compiled once. */
export class ObjectSchema<Value> {
  readonly schema: z.ZodObject;
  readonly options: ObjectOptions<Names>;
  readonly #known: readonly string[];
  readonly #nullable: ReadonlySet<string>;

  constructor(schema: z.ZodObject, options: ObjectOptions<Names>) {
    this.schema = schema;
    this.options = options;
    this.#known = Object.keys(schema.shape);
    const takesNull = this.#known.filter((name) => z.safeParse(schema.shape[name]!, null).success);
    this.#nullable = new Set(takesNull);
  }

  /** The checked object, or every problem. */
  readonly read = (input: unknown): ReadResult<Value> => {
    const problems = new ProblemList();
    return resultOf(this.readAt(input, { problems }), problems);
  };

  /** The checked object, or null and its problems in `place`. */
  readAt(input: unknown, place: Place): Value | null {
    const { problems, path = "" } = place;
    const fieldOf = (name: string): string => (path === "" ? name : `${path}.${name}`);
    if (typeof input !== "object" || input === null || Array.isArray(input)) {
      const names = this.#known.length === 0 ? "" : ` with ${this.#known.join(", ")}`;
      const field = path === "" ? (this.options.root ?? "body") : path;
      problems.add(() => ({ field, value: showValue(input), expected: `a JSON object${names}` }));
      return null;
    }
    const before = problems.count;
    const given = this.#sort(input as Members, { problems, fieldOf });
    const refuse = (name: string, expected: () => string): void => {
      const value = Object.hasOwn(input, name) ? (input as Members)[name] : undefined;
      problems.add(() => ({ field: fieldOf(name), value: showValue(value), expected: expected() }));
    };
    const parsed = this.#parse(given);
    for (const [name, issue] of firstIssues(parsed.issues))
      refuse(name, () => sentenceOf(issue, given[name], problems));
    for (const { broken } of this.options.relations ?? []) {
      const found = broken(given);
      if (found !== null) refuse(found[0], () => found[1]);
    }
    return problems.count === before ? this.#rename(parsed.value as Members) : null;
  }

  /** The members that the schema knows, without those that count as left out. */
  #sort(
    input: Members,
    { problems, fieldOf }: { problems: ProblemList; fieldOf: (name: string) => string },
  ): Members {
    const given: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(input)) {
      if (this.#known.includes(name)) {
        if ((value ?? null) !== null || (value === null && this.#nullable.has(name)))
          given[name] = value;
      } else if (this.options.isOpen !== true) {
        problems.add(() => {
          const near = problems.nearTo(name, this.#known);
          const names = this.#known.join(", ");
          const expected = names === "" ? "no members" : `one of the members ${names}`;
          return {
            field: fieldOf(name.slice(0, shownLengthMax)),
            value: showValue(value),
            expected: near === "" ? expected : `${expected}.${near}`,
          };
        });
      }
    }
    return given;
  }

  /** As `safeParse`, without an error object and a sentence for each issue: there may be 10,000 bad objects in one input. */
  #parse(value: Members): z.core.ParsePayload {
    const parsed = this.schema._zod.run({ value, issues: [] }, { async: false });
    if (parsed instanceof Promise) throw new z.core.$ZodAsyncError();
    return parsed;
  }

  #rename(value: Members): Value {
    const { names } = this.options;
    if (names === undefined) return value as Value;
    const entries = Object.entries(value).map(([name, member]) => [names[name] ?? name, member]);
    return Object.fromEntries(entries) as Value;
  }
}

/** Makes the schema of an object. Members are read, and their problems told, in the order of `shape`. */
export function objectOf<Shape extends z.ZodRawShape, const Renamed extends Names = Names>(
  shape: Shape,
  options: ObjectOptions<Renamed> = {},
): ObjectSchema<Checked<Shape, Renamed>> {
  return new ObjectSchema(z.strictObject(shape), options as ObjectOptions<Names>);
}

/** Makes the schema of a query, whose values are texts. */
export function queryOf<Shape extends z.ZodRawShape, const Renamed extends Names = Names>(
  shape: Shape,
  names?: Renamed,
): ObjectSchema<Checked<Shape, Renamed>> {
  return objectOf(shape, { root: "query", ...(names === undefined ? {} : { names }) });
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

/** What was read, unless there are problems. */
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

/** The first issue of each member. */
function firstIssues(issues: readonly z.core.$ZodRawIssue[]): Map<string, z.core.$ZodRawIssue> {
  const found = new Map<string, z.core.$ZodRawIssue>();
  for (const issue of issues) {
    const name = String(issue.path?.[0]);
    if (!found.has(name)) found.set(name, issue);
  }
  return found;
}

/** What is expected, and the near word where one of some words is. */
function sentenceOf(issue: z.core.$ZodRawIssue, given: unknown, problems: ProblemList): string {
  const { message } = z.core.util.finalizeIssue(issue, { async: false }, z.core.config());
  if (issue.code !== "invalid_value" || typeof given !== "string") return message;
  const near = problems.nearTo(given, issue.values.map(String));
  return near === "" ? message : `${message}.${near}`;
}

const has = (given: Members, name: string): boolean => (given[name] ?? null) !== null;

/** The JSON Schema of what a client sends, for the OpenAPI document. */
export function jsonOf(schema: z.core.$ZodType): Record<string, unknown> {
  const { $schema, ...json } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      const object = nestedObjects.get(zodSchema);
      if (object !== undefined) Object.assign(jsonSchema, jsonOfObject(object));
    },
  });
  return json;
}

/** The JSON Schema of an object: one of its forms, or its members and their relations. */
export function jsonOfObject({ schema, options }: ObjectSchema<unknown>): Record<string, unknown> {
  const { forms, relations = [] } = options;
  if (forms !== undefined) return { oneOf: forms.map((form) => jsonOfForm(schema, form)) };
  const json: Record<string, unknown> = { required: [], ...jsonOf(schema) };
  for (const [word, value] of relations.flatMap((relation) => Object.entries(relation.json)))
    json[word] = { ...(json[word] as object), ...value };
  return json;
}

function jsonOfForm({ shape }: z.ZodObject, { needs, may }: Form): Record<string, unknown> {
  const members = Object.entries(shape).filter(([name]) => [...needs, ...may].includes(name));
  return { ...jsonOf(z.strictObject(Object.fromEntries(members))), required: needs };
}

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
