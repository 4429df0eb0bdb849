import type { Cte, Literal, StatementNode, VariableReference } from "./ast";
import type {
  Declaration,
  Declare,
  If,
  RaiseError,
  Return,
  Span,
  Statement,
  Throw,
  TransactionStatement,
  TryCatch,
} from "./ast-statements";
import type { Token } from "./lexer";
import { SettingParser } from "./setting-parser";

/** Gives statements their numbers; shared by the batches of one file. */
export interface StatementCounter {
  last: number;
}

/** Reads one batch: statements and what steers them. */
export class StatementParser extends SettingParser {
  readonly #counter: StatementCounter;
  readonly #first: number;
  /** May a statement begin here that needs the one before it ended? */
  #isFresh = true;
  /** Of the statements read so far. */
  readonly spans = new Map<number, Span>();

  constructor(batch: { tokens: readonly Token[]; fileName: string }, counter: StatementCounter) {
    super(batch.tokens, batch.fileName);
    this.#counter = counter;
    this.#first = counter.last + 1;
  }

  /** All statements up to the end of the batch. */
  batch(): Statement[] {
    return this.bodyToEnd();
  }

  protected get isFirstOfBatch(): boolean {
    return this.#counter.last === this.#first;
  }

  protected begin(): Pick<StatementNode, "line" | "statementId"> {
    this.#counter.last += 1;
    return { line: this.line, statementId: this.#counter.last };
  }

  protected bodyToEnd(): Statement[] {
    const body: Statement[] = [];
    this.#isFresh = true;
    this.#skipSemicolons();
    while (this.next.kind !== "end") {
      body.push(this.#statement());
      this.#skipSemicolons();
    }
    return body;
  }

  protected bodyInBlock(): Statement[] {
    this.need("BEGIN");
    return this.#bodyUntil("END");
  }

  #bodyUntil(...words: string[]): Statement[] {
    const body: Statement[] = [];
    this.#isFresh = true;
    this.#skipSemicolons();
    while (!this.is(...words)) {
      if (this.next.kind === "end") this.fail(words.join(" "));
      body.push(this.#statement());
      this.#skipSemicolons();
    }
    if (body.length === 0) this.fail("a statement");
    this.need(...words);
    return body;
  }

  #skipSemicolons(): void {
    while (this.take(";")) this.#isFresh = true;
  }

  #statement(): Statement {
    const { start } = this.next;
    const statement = this.#anyStatement();
    this.spans.set(statement.statementId, { start, end: this.previous.end });
    this.#isFresh = false;
    return statement;
  }

  /** The statement of an IF, an ELSE or a WHILE. */
  #dependent(): Statement {
    this.#isFresh = true;
    return this.#statement();
  }

  #anyStatement(): Statement {
    if (this.isDefinition()) return this.definition();
    switch (this.next.upper) {
      case "WITH":
        return this.#withCtes();
      case "SELECT":
      case "INSERT":
      case "UPDATE":
      case "DELETE":
        return this.#query([]);
      case "EXEC":
      case "EXECUTE":
        return this.peek(1).upper === "AS" ? this.#executeAs() : this.execute();
      case "DECLARE":
        return this.#declare();
      case "SET":
        return this.set();
      case "THROW":
        return this.#throw();
      default:
        return this.#control();
    }
  }

  #executeAs(): Statement {
    const start = this.begin();
    if (!this.take("EXEC")) this.need("EXECUTE");
    this.need("AS", "USER", "=");
    return { ...start, kind: "executeAs", user: this.text("a user's name as a text") };
  }

  #control(): Statement {
    switch (this.next.upper) {
      case "BEGIN":
        return this.#beginning();
      case "COMMIT":
      case "ROLLBACK":
      case "SAVE":
        return this.#transaction();
      case "IF":
        return this.#if();
      case "WHILE": {
        const start = this.begin();
        this.advance();
        const condition = this.predicate();
        return { ...start, kind: "while", condition, body: this.#dependent() };
      }
      case "BREAK":
      case "CONTINUE": {
        const start = this.begin();
        return { ...start, kind: this.advance().upper === "BREAK" ? "break" : "continue" };
      }
      case "RETURN":
        return this.#return();
      case "RAISERROR":
        return this.#raiseError();
      case "REVERT": {
        const start = this.begin();
        this.advance();
        return { ...start, kind: "revert" };
      }
      case "PRINT": {
        const start = this.begin();
        this.advance();
        return { ...start, kind: "print", message: this.expression() };
      }
      default:
        return this.fail("a statement");
    }
  }

  /** WITH belongs to the statement before it unless that one has ended (error 319). */
  #withCtes(): Statement {
    this.#needEnded("WITH");
    return this.#query(this.ctes());
  }

  #query(ctes: readonly Cte[]): Statement {
    switch (this.next.upper) {
      case "INSERT":
        return this.insert(ctes);
      case "UPDATE":
        return this.update(ctes);
      case "DELETE":
        return this.delete(ctes);
      default: {
        const start = this.begin();
        const query = this.query();
        const options = this.queryHints();
        return { ...start, kind: "selectStatement", ctes, query, options };
      }
    }
  }

  #beginning(): Statement {
    if (this.is("BEGIN", "TRY")) return this.#tryCatch();
    if (this.is("BEGIN", "TRANSACTION") || this.is("BEGIN", "TRAN")) return this.#transaction();
    const start = this.begin();
    return { ...start, kind: "block", body: this.bodyInBlock() };
  }

  #tryCatch(): TryCatch {
    const start = this.begin();
    this.need("BEGIN", "TRY");
    const body = this.#bodyUntil("END", "TRY");
    this.take(";");
    this.need("BEGIN", "CATCH");
    const handler = this.is("END", "CATCH") ? [] : this.#bodyUntil("END", "CATCH");
    if (handler.length === 0) this.need("END", "CATCH");
    return { ...start, kind: "tryCatch", body, handler };
  }

  #transaction(): TransactionStatement {
    const start = this.begin();
    const word = this.needOneOf(["BEGIN", "COMMIT", "ROLLBACK", "SAVE"], "a transaction");
    const kinds = { BEGIN: "begin", COMMIT: "commit", ROLLBACK: "rollback", SAVE: "save" } as const;
    const kind = kinds[word];
    const hasNoun = this.take("TRANSACTION") || this.take("TRAN");
    let savepoint: string | undefined;
    if (kind === "save") savepoint = this.name("the name of a savepoint");
    else if (kind === "rollback" && hasNoun && this.isName()) savepoint = this.name();
    // A server reads ROLLBACK TRANSACTION THROW as going back to a savepoint of that name.
    if (savepoint?.toUpperCase() === "THROW") this.reject(start.line, "expected ; before THROW");
    return { ...start, kind, savepoint };
  }

  #if(): If {
    const start = this.begin();
    this.need("IF");
    const condition = this.predicate();
    const then = this.#dependent();
    const isFollowed = this.is("ELSE") || this.is(";", "ELSE");
    if (!isFollowed) return { ...start, kind: "if", condition, then, otherwise: undefined };
    this.take(";");
    this.need("ELSE");
    return { ...start, kind: "if", condition, then, otherwise: this.#dependent() };
  }

  #declare(): Declare {
    const start = this.begin();
    this.need("DECLARE");
    return { ...start, kind: "declare", declarations: this.list(() => this.#declaration()) };
  }

  #declaration(): Declaration {
    const line = this.line;
    const name = this.variable();
    this.take("AS");
    if (this.take("TABLE"))
      return { kind: "table", name, definition: this.tableDefinition(), line };
    const type = this.dataType();
    const { start } = this.next;
    const value = this.take("=") ? this.expression() : undefined;
    if (value !== undefined) this.mark("initialValue", start);
    if (value !== undefined && type.kind === "named") {
      this.reject(line, `${name} is a table and has no initial value`);
    }
    return { kind: "scalar", name, type, value, line };
  }

  /** THROW is no reserved word: without a ; before it, it would be read as a name there. */
  #throw(): Throw {
    this.#needEnded("THROW");
    const start = this.begin();
    this.need("THROW");
    if (!this.#startsThrown()) return { ...start, kind: "throw", error: undefined };
    const number = this.numbered(() => this.#thrown());
    this.need(",");
    const message = this.#thrown();
    this.need(",");
    return { ...start, kind: "throw", error: { number, message, state: this.#thrown() } };
  }

  #startsThrown(): boolean {
    return this.next.kind === "variable" || this.isConstant();
  }

  #thrown(): Literal | VariableReference {
    const { kind, line } = this.next;
    return kind === "variable" ? { kind, name: this.variable(), line } : this.constant();
  }

  #needEnded(what: string): void {
    if (!this.#isFresh) this.reject(this.line, `expected ; before ${what}`);
  }

  #raiseError(): RaiseError {
    const start = this.begin();
    this.need("RAISERROR", "(");
    const message = this.expression();
    this.need(",");
    const severity = this.expression();
    this.need(",");
    const state = this.expression();
    const values = this.take(",") ? this.list(() => this.expression()) : [];
    this.need(")");
    return { ...start, kind: "raiseError", message, severity, state, arguments: values };
  }

  #return(): Return {
    const start = this.begin();
    this.need("RETURN");
    return {
      ...start,
      kind: "return",
      value: this.startsExpression() ? this.expression() : undefined,
    };
  }
}
