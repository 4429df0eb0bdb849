import { isId } from "taskgate";
import type { JsonValue, SchemaIssue, StandardSchema } from "taskgate";

/**
 * Payloads of the sample's tasks, each with its Standard Schema, written by hand: the interface is one function. In an
 * app of your own a validation library (zod, valibot, arktype ..) gives the same object.
 */

/** A file in the landing folder, as its event names it. */
export type LandedFile = {
  /** Of the event: name and content. */
  readonly eventId: string;
  readonly name: string;
  /** Absolute; the file's folder is called `landing`. */
  readonly path: string;
  /** Of the content, in hexadecimal: a file that changed since is another file. */
  readonly sha256: string;
};

/** Some rows of a file. */
export type RowBlock = {
  readonly file: LandedFile;
  /** Of the first row, from 0. */
  readonly from: number;
  readonly count: number;
  /** The wave that sums up what the file's blocks leave. */
  readonly totalsWave: string;
};

/** The batch of a file, to be started. */
export type FileBatch = { readonly batch: string };

/** A file whose sums are made. */
export type SummedFile = { readonly file: LandedFile; readonly rows: number };

/** What the blocks of a file left of one origin. */
export type TotalsOfFile = {
  /** The file's wave of totals: what belongs to one import of it. */
  readonly wave: string;
  readonly origin: string;
};

/** A row that couldn't be counted, as it stands in the file. */
export type BadRow = {
  readonly file: string;
  /** From 0. */
  readonly row: number;
  readonly content: JsonValue;
  /** The file's wave of totals. */
  readonly wave: string;
  /** Codes that the table of airports didn't have. */
  readonly unknownAirports: string[];
};

/** Least and most rows of a block: its tasks must fit a payload. */
export const rowsPerBlockMax = 1_000;

/** Schema of `LandedFile`. */
export const landedFileSchema = schemaOf<LandedFile>((value, issues) => {
  checkLandedFile(membersOf(value, issues, []), issues, []);
});

/** Schema of `RowBlock`. */
export const rowBlockSchema = schemaOf<RowBlock>((value, issues) => {
  const members = membersOf(value, issues, []);
  checkLandedFile(membersOf(members.get("file"), issues, ["file"]), issues, ["file"]);
  const from = { members, issues, path: ["from"] };
  checkMember(from, "a whole number from 0", (given) => isWhole(given, 0, 10_000_000));
  const count = { members, issues, path: ["count"] };
  const expected = `a whole number in 1..${String(rowsPerBlockMax)}`;
  checkMember(count, expected, (given) => isWhole(given, 1, rowsPerBlockMax));
  checkId({ members, issues, path: ["totalsWave"] });
});

/** Schema of `FileBatch`. */
export const fileBatchSchema = schemaOf<FileBatch>((value, issues) => {
  checkId({ members: membersOf(value, issues, []), issues, path: ["batch"] });
});

/** Schema of `SummedFile`. */
export const summedFileSchema = schemaOf<SummedFile>((value, issues) => {
  const members = membersOf(value, issues, []);
  checkLandedFile(membersOf(members.get("file"), issues, ["file"]), issues, ["file"]);
  const rows = { members, issues, path: ["rows"] };
  checkMember(rows, "a whole number from 0", (given) => isWhole(given, 0, 10_000_000));
});

/** Schema of `TotalsOfFile`. */
export const totalsSchema = schemaOf<TotalsOfFile>((value, issues) => {
  const members = membersOf(value, issues, []);
  const origin = { members, issues, path: ["origin"] };
  checkMember(origin, "an airport code", (given) => isText(given, /^[A-Z0-9]{3}$/));
  checkId({ members, issues, path: ["wave"] });
});

/** Schema of `BadRow`. The errors of the row itself are its task's business. */
export const badRowSchema = schemaOf<BadRow>((value, issues) => {
  const members = membersOf(value, issues, []);
  const member = (name: string) => ({ members, issues, path: [name] });
  checkMember(member("file"), "a text", (given) => isText(given, /^.{1,200}$/));
  checkMember(member("row"), "a whole number from 0", (given) => isWhole(given, 0, 10_000_000));
  checkMember(member("content"), "the row", (given) => given !== undefined);
  checkId(member("wave"));
  checkMember(member("unknownAirports"), "a list of codes", (given) => {
    return Array.isArray(given) && given.every((code) => typeof code === "string");
  });
});

type Check = (value: unknown, issues: SchemaIssue[]) => void;

/** A schema that changes nothing: without issues the value is the payload as it came. */
function schemaOf<Payload>(check: Check): StandardSchema<Payload> {
  return {
    "~standard": {
      version: 1,
      vendor: "taskgate-sample",
      validate: (value) => {
        const issues: SchemaIssue[] = [];
        check(value, issues);
        return issues.length === 0 ? { value: value as Payload } : { issues };
      },
    },
  };
}

/** The members of an object; none, and an issue, when it isn't one. */
function membersOf(
  value: unknown,
  issues: SchemaIssue[],
  path: readonly string[],
): ReadonlyMap<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return new Map<string, unknown>(Object.entries(value));
  }
  issues.push({ message: expectedText("a JSON object", value), path });
  return new Map();
}

interface Member {
  readonly members: ReadonlyMap<string, unknown>;
  readonly issues: SchemaIssue[];
  /** The last part is the member's name. */
  readonly path: readonly string[];
}

function checkMember(
  { members, issues, path }: Member,
  expected: string,
  accepts: (value: unknown) => boolean,
): void {
  const value = members.get(path.at(-1) ?? "");
  if (!accepts(value)) issues.push({ message: expectedText(expected, value), path });
}

/** A batch's or a wave's id. */
function checkId(member: Member): void {
  checkMember(
    member,
    "an id in decimal digits",
    (given) => typeof given === "string" && isId(given),
  );
}

function checkLandedFile(
  members: ReadonlyMap<string, unknown>,
  issues: SchemaIssue[],
  path: readonly string[],
): void {
  const member = (name: string) => ({ members, issues, path: [...path, name] });
  checkMember(member("eventId"), "a text", (value) => isText(value, /^.{1,200}$/));
  checkMember(member("name"), "the name of a .json or .csv file", (value) =>
    isText(value, /^[^/\\]{1,150}\.(json|csv)$/i),
  );
  // A sender of events must not be able to name any file of the machine.
  const name = String(members.get("name"));
  checkMember(member("path"), "the path of that file in a folder called landing", (value) => {
    const folders = typeof value === "string" ? value.split(/[/\\]/) : [];
    return folders.at(-1) === name && folders.at(-2) === "landing" && !folders.includes("..");
  });
  checkMember(member("sha256"), "a SHA-256 in hexadecimal", (value) =>
    isText(value, /^[0-9a-f]{64}$/),
  );
}

function isText(value: unknown, form: RegExp): boolean {
  return typeof value === "string" && form.test(value);
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

function expectedText(expected: string, value: unknown): string {
  const shown = value === undefined ? "nothing" : JSON.stringify(value).slice(0, 60);
  return `expected ${expected}, got ${shown}`;
}
