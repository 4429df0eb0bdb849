import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/*
 * The operations of fixtures/new-operations, added to a copy of the tree. Of a file that is new the fixture is the file, of one
 * that is there it has parts: each below a line that says where it belongs.
 */

const fixtures = join(__dirname, "fixtures/new-operations");

/** Files of the tree by those of a fixture. */
export type OperationFiles = Readonly<Record<string, string>>;

const topic: OperationFiles = {
  "operation.txt": "shared/store/operations/stops.ts",
  "memory-store.txt": "shared/testing/memory-store/stops.ts",
  "contract.txt": "test/contract/stops.contract.ts",
};

/** The example that CONTRIBUTING shows: a read, for workers. */
export const readStop: OperationFiles = {
  "read_stop.sql": "shared/store/postgres/sql/functions/read_stop.sql",
  "ReadStop.sql": "shared/store/mssql/sql/procedures/ReadStop.sql",
  ...topic,
};

/** A change, for operators, with an input that the names and types of its parameters don't give. */
export const setStopCause: OperationFiles = {
  "set_stop_cause.sql": "shared/store/postgres/sql/functions/set_stop_cause.sql",
  "SetStopCause.sql": "shared/store/mssql/sql/procedures/SetStopCause.sql",
  ...topic,
};

/** Adds the operation of a folder of fixtures to `tree`. */
export function addOperation(tree: string, folder: string, files: OperationFiles): void {
  for (const [fixture, path] of Object.entries(files)) {
    const to = join(tree, path);
    const added = readFixture(`${folder}/${fixture}`);
    writeFileSync(
      to,
      fixture.endsWith(".sql") ? added : withParts(readFileSync(to, "utf8"), added),
    );
  }
}

/** The text of a fixture, such as `read-stop/operation.txt`. */
export function readFixture(path: string): string {
  return readFileSync(join(fixtures, path), "utf8");
}

const placeLine = /^\/\/# (.+)\n/m;

function withParts(text: string, added: string): string {
  const [, ...parts] = added.split(placeLine);
  let result = text;
  for (let at = 0; at < parts.length; at += 2)
    result = withPart(result, parts[at] ?? "", parts[at + 1] ?? "");
  return result;
}

function withPart(text: string, place: string, part: string): string {
  if (place === "at the end") return `${text}\n${part}`;
  if (place === "at the beginning") return part + text;
  const line = `${place.replace("behind: ", "")}\n`;
  const until = text.indexOf(line) + line.length;
  if (until < line.length) throw new Error(`There is no line: ${line}`);
  return text.slice(0, until) + part + text.slice(until);
}
