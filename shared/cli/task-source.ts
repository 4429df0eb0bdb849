import { parseJson } from "../admin/parse-json";
import type { ProblemList } from "../admin/problem-list";
import { showValue } from "../admin/read-result";
import { linesOf } from "../admin/text-lines";
import type { TextLine } from "../admin/text-lines";
import { limits } from "../core/limits";
import { CsvReader } from "./csv";
import { payloadOf, readHeader, requireColumn } from "./csv-payload";
import { taskOfExported } from "./exported-task";
import type { TaskMembers } from "./exported-task";
import type { Input } from "./open-input";

/** The tasks of a file, one after the other. */

/** How a file is written. */
export const formats = ["ndjson", "csv"] as const;

/** How the tasks of a file are read. */
export interface SourceOptions {
  readonly format: (typeof formats)[number];
  /** CSV: values that look so become numbers, true, false and null. */
  readonly isTyped: boolean;
  /** A field that is in every payload; undefined: none is asked for. */
  readonly key: string | undefined;
  /** Tasks up to this line are passed over; 0: none. */
  readonly afterLine: number;
}

/** A task as it stands in the file. */
export interface SourceTask {
  /** The line that it begins on, from 1, and the one that it ends on. */
  readonly number: number;
  readonly last: number;
  /** Of the file, from the task before to this one. */
  readonly bytes: number;
  /** Its members; null: it has problems. */
  readonly read: (problems: ProblemList) => TaskMembers | null;
}

const bounds = { linesMax: Infinity, lineBytesMax: limits.fileLineBytesMax };

/** Throws InvalidArgumentError that names the line where the text can't be cut into tasks. */
export function tasksIn(input: Input, options: SourceOptions): AsyncGenerator<SourceTask> {
  return options.format === "csv" ? csvTasks(input, options) : lineTasks(input, options);
}

async function* lineTasks({ pieces }: Input, { afterLine }: SourceOptions) {
  let byteCount = 0;
  for await (const lines of linesOf(pieces, bounds)) {
    for (const line of lines) {
      const { number, text } = line;
      byteCount += line.bytes + 1;
      if (number <= afterLine || text.trim() === "") continue;
      const bytes = byteCount;
      byteCount = 0;
      yield {
        number,
        last: number,
        bytes,
        read: (problems: ProblemList) => readLine(line, problems),
      };
    }
  }
}

function readLine({ number, text }: TextLine, problems: ProblemList): TaskMembers | null {
  const field = `line ${String(number)}`;
  try {
    const read = parseJson(text, { root: field, at: field });
    if (read.ok) return taskOfExported(read.value) ?? { payload: read.value };
    problems.addAll(read);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const expected = "a payload on one line, a JSON object or array; for a CSV file --format csv";
    problems.add({ field, value: showValue(text), expected });
  }
  return null;
}

async function* csvTasks({ pieces }: Input, { isTyped, key, afterLine }: SourceOptions) {
  const reader = new CsvReader(limits.fileLineBytesMax);
  let columns: readonly string[] | null = null;
  let byteCount = 0;
  for await (const lines of linesOf(pieces, bounds)) {
    for (const line of lines) {
      byteCount += line.bytes + 1;
      const record = reader.push(line);
      if (record === null) continue;
      if (columns === null) {
        columns = readHeader(record);
        if (key !== undefined) requireColumn("--key-field", key, columns);
        continue;
      }
      const { number, last } = record;
      if (number <= afterLine) continue;
      const bytes = byteCount;
      byteCount = 0;
      const how = { columns, isTyped };
      const read = (problems: ProblemList): TaskMembers | null => {
        const payload = payloadOf(record, how, problems);
        return payload === null ? null : { payload };
      };
      yield { number, last, bytes, read };
    }
  }
  reader.end();
}
