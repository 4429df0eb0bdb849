import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import type { TsqlFile } from "./files";
import { tokenise } from "./tokens";

/**
 * The community grammar of T-SQL, as @dbml/core ships it: the only parser of it that npm has. It takes seconds for a
 * long procedure, so verdicts on files that haven't changed are remembered in grammar-verdicts.json.
 */

/** What the grammar can't read although SQL Server can: rewritten before it is asked, each with its reason. */
export const grammarGaps: readonly { reason: string; pattern: RegExp; replacement: string }[] = [
  {
    reason: "one DECLARE may hold several variables of table types; the grammar takes one",
    pattern: /DECLARE (@\w+ \w+\.\w+), (@\w+ \w+\.\w+);/g,
    replacement: "DECLARE $1; DECLARE $2;",
  },
  {
    reason: "a column in OPENJSON's WITH may have a collation",
    pattern: / COLLATE \w+(?= N'\$)/g,
    replacement: "",
  },
];

interface Importer {
  import(sql: string, dialect: "mssql"): unknown;
}

interface Diagnostic {
  message: string;
  location?: { start: { line: number; column: number } };
}

let importer: Importer | null = null;

/** What the grammar has against a file, with the line; null when it accepts it. */
export function readByGrammar(file: TsqlFile): string | null {
  importer ??= (createRequire(__filename)("@dbml/core") as { importer: Importer }).importer;
  for (const batch of file.batches) {
    const text = grammarGaps.reduce(
      (current, gap) => current.replace(gap.pattern, gap.replacement),
      batch.text,
    );
    const verdict = readBatch(importer, text);
    if (verdict !== null)
      return `line ${String(batch.line + verdict.line - 1)}: ${verdict.message}`;
  }
  return null;
}

function readBatch(parser: Importer, text: string): { line: number; message: string } | null {
  try {
    parser.import(text, "mssql");
    return null;
  } catch (error) {
    // Faults of the grammar have a place. What has none comes later, from building tables out of what was read: table
    // variables and some queries are unknown there, and nothing of that is needed here.
    const fault = diagnosticsOf(error).find((entry) => entry.location !== undefined);
    if (fault?.location === undefined) return null;
    return { line: fault.location.start.line, message: fault.message.slice(0, 200) };
  }
}

function diagnosticsOf(error: unknown): Diagnostic[] {
  if (
    typeof error === "object" &&
    error !== null &&
    "diags" in error &&
    Array.isArray(error.diags)
  ) {
    return error.diags as Diagnostic[];
  }
  throw error;
}

/** Of what counts: tokens, not blanks and comments. */
export function hashOf(file: TsqlFile): string {
  const hash = createHash("sha256");
  for (const batch of file.batches) {
    const tokens = tokenise(batch.text).map((token) => `${token.kind} ${token.text}`);
    hash.update(`${tokens.join("\n")}\nGO\n`);
  }
  return hash.digest("hex");
}
