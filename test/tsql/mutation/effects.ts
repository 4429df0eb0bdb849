import type { Insert, Output, Statement, Target } from "../../tsql-server/syntax/ast-statements";
import type { Token } from "../../tsql-server/syntax/lexer";
import type { Source } from "./source";
import { statementsIn } from "./statements";

/** What a statement may do, with all that it holds. Never less than it does. */
export interface Effects {
  /** Variables, also of tables, in capitals: those that it names, and of these what it may change. */
  readonly named: ReadonlySet<string>;
  readonly written: ReadonlySet<string>;
  /** It looks at shared tables, the clock or a sequence, runs a module, or answers rows. */
  readonly reachesOut: boolean;
  /** Of that, it only reads, and keeps no lock. */
  readonly onlyLooks: boolean;
  /** It reads how many rows the statement before it touched. */
  readonly countsRows: boolean;
  /** It asks whether there is a transaction. */
  readonly asksForTransaction: boolean;
  /** Kinds of what it holds, itself included. */
  readonly kinds: ReadonlySet<Statement["kind"]>;
}

export function effectsOf(source: Source, statement: Statement): Effects {
  const tokens = source.tokensIn(source.spanOf(statement));
  const words = new Set(tokens.map(({ upper }) => upper));
  const inner = statementsIn(statement);
  const has = (list: readonly string[]): boolean => list.some((word) => words.has(word));
  const answers = inner.some(isAnswer);
  return {
    named: new Set(
      tokens.filter(({ kind }) => kind === "variable").map(({ text }) => text.toUpperCase()),
    ),
    written: new Set(inner.flatMap((one) => writtenBy(source, one))),
    reachesOut: answers || has(outsideWords),
    onlyLooks: !answers && !has(keepingWords) && inner.every((one) => isLook(source, one)),
    countsRows: words.has("@@ROWCOUNT"),
    asksForTransaction: has(["@@TRANCOUNT", "XACT_STATE"]),
    kinds: new Set(inner.map(({ kind }) => kind)),
  };
}

const outsideWords = ["TASKGATE", "NEXT", "NEWID", "SYSUTCDATETIME", "EXEC", "EXECUTE"];

/** Hints that make a reader keep locks, and what draws a number. */
const keepingWords = ["UPDLOCK", "XLOCK", "HOLDLOCK", "TABLOCK", "TABLOCKX", "NEXT", "NEWID"];

/** Does it send rows to the client? */
function isAnswer(statement: Statement): boolean {
  switch (statement.kind) {
    case "selectStatement":
      return assignedBy(statement).length === 0;
    case "insert":
    case "update":
    case "delete":
      return statement.output !== undefined && statement.output.into === undefined;
    default:
      return false;
  }
}

/** Variables of SELECT @v = .. */
function assignedBy({ query }: Extract<Statement, { kind: "selectStatement" }>): string[] {
  const items = query.body.kind === "select" ? query.body.items : [];
  return items.flatMap((item) => (item.kind === "assign" ? [item.variable.toUpperCase()] : []));
}

function isLook(source: Source, statement: Statement): boolean {
  switch (statement.kind) {
    case "selectStatement":
    case "setVariable":
    case "if":
    case "block":
      // What these hold is looked at by itself.
      return true;
    case "insert":
    case "update":
    case "delete":
      return targetVariable(source, statement) !== undefined;
    default:
      return false;
  }
}

/** What one statement changes, without those that it holds. */
function writtenBy(source: Source, statement: Statement): string[] {
  switch (statement.kind) {
    case "setVariable":
      return [statement.variable.toUpperCase()];
    case "selectStatement":
      return assignedBy(statement);
    case "insert":
    case "update":
    case "delete": {
      const assigned =
        statement.kind === "update" ? statement.assignments.map(({ variable }) => variable) : [];
      const written = [targetVariable(source, statement), intoOf(statement.output), ...assigned];
      return written.flatMap((name) => (name === undefined ? [] : [name.toUpperCase()]));
    }
    case "execute":
      return [
        ...statement.arguments.flatMap(({ isOutput, value }) =>
          isOutput && value?.kind === "variable" ? [value.name.toUpperCase()] : [],
        ),
        ...(statement.result === undefined ? [] : [statement.result.toUpperCase()]),
      ];
    default:
      return [];
  }
}

type Write = Insert | Extract<Statement, { kind: "update" | "delete" }>;

/** The table variable that is changed, also by an alias; undefined: it is none. */
function targetVariable(source: Source, statement: Write): string | undefined {
  const { target } = statement;
  if (target.kind === "tableVariable") return target.name;
  if (target.name.schema !== undefined) return undefined;
  const alias = target.name.name.toUpperCase();
  const tokens = source.tokensIn(source.spanOf(statement));
  return tokens.find((token, place) => isNamed(token, tokens.slice(place + 1), alias))?.text;
}

/** `@vTask AS t`. */
function isNamed({ kind }: Token, [as, name]: readonly Token[], alias: string): boolean {
  return kind === "variable" && as?.upper === "AS" && name?.upper === alias;
}

function intoOf(output: Output | undefined): string | undefined {
  const target: Target | undefined = output?.into?.target;
  return target?.kind === "tableVariable" ? target.name : undefined;
}
