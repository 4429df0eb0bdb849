import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Batch, Span, Statement } from "../../tsql-server/syntax/ast-statements";
import { tokenise } from "../../tsql-server/syntax/lexer";
import type { Token } from "../../tsql-server/syntax/lexer";
import { parseScript } from "../../tsql-server/syntax/parser";
import { siblingsOf } from "./statements";

/** Functions, procedures and views are under test; migrations are frozen and only the ground they stand on. */
const folders = ["functions", "procedures", "views"] as const;
const root = join(__dirname, "../../../shared/store/mssql/sql");

/** A statement of a file and its place. */
export interface PlacedStatement {
  readonly statement: Statement;
  readonly span: Span;
  /** The statement behind it in the same list. */
  readonly next: Statement | undefined;
}

/** One shipped file, cut into what a mutant may change. */
export class Source {
  /** Like `procedures/Work.sql`. */
  readonly name: string;
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly batch: Batch;
  readonly statements: readonly PlacedStatement[];

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
    this.tokens = tokenise(text, name);
    const [batch, second] = parseScript(text, name);
    if (batch === undefined || second !== undefined) throw new Error(`${name}: expected one batch`);
    this.batch = batch;
    this.statements = siblingsOf(batch.statements).flatMap((list) =>
      list.map((statement, index) => {
        return { statement, span: this.spanOf(statement), next: list[index + 1] };
      }),
    );
  }

  spanOf(statement: Statement): Span {
    const span = this.batch.spans.get(statement.statementId);
    if (span === undefined) throw new Error(`${this.name}:${statement.line}: no place is known`);
    return span;
  }

  textOf({ start, end }: Span): string {
    return this.text.slice(start, end);
  }

  /** The innermost statement around a place. */
  statementAt(span: Span): PlacedStatement | undefined {
    let innermost: PlacedStatement | undefined;
    for (const placed of this.statements) {
      const isAround = placed.span.start <= span.start && placed.span.end >= span.end;
      if (!isAround) continue;
      if (innermost === undefined || lengthOf(placed.span) <= lengthOf(innermost.span)) {
        innermost = placed;
      }
    }
    return innermost;
  }

  /** The tokens of a place. */
  tokensIn({ start, end }: Span): readonly Token[] {
    return this.tokens.slice(this.#firstAt(start), this.#firstAt(end));
  }

  /** The token so many before the one at `offset`; 0 is that one. */
  tokenAt(offset: number, distance = 0): Token | undefined {
    return this.tokens[this.#firstAt(offset) + distance];
  }

  lineOf(offset: number): number {
    return this.text.slice(0, offset).split("\n").length;
  }

  /** The first token that starts at `offset` or behind it. */
  #firstAt(offset: number): number {
    let low = 0;
    let high = this.tokens.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.tokens[middle]?.start ?? Infinity) < offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Every shipped function, procedure and view, by name. */
export function readSources(): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(root, folder))
      .sort()
      .map((file) => {
        const text = readFileSync(join(root, folder, file), "utf8");
        return new Source(`${folder}/${file}`, text);
      }),
  );
}

function lengthOf({ start, end }: Span): number {
  return end - start;
}
