import type { Statement } from "../../tsql-server/syntax/ast-statements";
import type { Token } from "../../tsql-server/syntax/lexer";
import { effectsOf } from "./effects";
import type { Effects } from "./effects";
import type { PlacedStatement, Source } from "./source";
import { isSetting, statementsIn } from "./statements";

/*
 * Which neighbours may change places without a visible effect. Swapping them makes no mutant.
 */

/** Is the order of a statement and the next one without effect? Says no where it can't tell. */
export function isIndependent(source: Source, { statement, next }: PlacedStatement): boolean {
  if (next === undefined) return false;
  if (isSetting(statement) && isSetting(next)) return true;
  const first = effectsOf(source, statement);
  const second = effectsOf(source, next);
  if (first.countsRows || second.countsRows || isCounted(source, next)) return false;
  if (meets(first.written, second.named) || meets(second.written, first.named)) return false;
  return isPair(source, first, second) || isPair(source, second, first);
}

/** Can `one` stand before or behind `other`, whose variables it leaves alone? */
function isPair(source: Source, one: Effects, other: Effects): boolean {
  if (isLocal(one)) return mayLeave(source, one, other);
  // A refused call is refused, after any reads.
  if (isGuard(one)) return other.onlyLooks && !meets(other.written, namedByHandlers(source));
  // Levels, time-outs and priorities are about shared rows, and end with the procedure, also by an error.
  if (isOnly(one, mildSettings)) return !other.reachesOut && !meetsKinds(other, transactions);
  // A read that keeps no lock is the same inside a transaction and outside, at READ COMMITTED [doc: SET TRANSACTION
  // ISOLATION LEVEL].
  return isOnly(one, beginnings) && !one.reachesOut && other.onlyLooks;
}

/** It touches variables and nothing else, and comes to its end. */
function isLocal(effects: Effects): boolean {
  return !effects.reachesOut && !effects.asksForTransaction && isOnly(effects, localKinds);
}

/** It raises an error, or does nothing visible. */
function isGuard(effects: Effects): boolean {
  const isRaising = meetsKinds(effects, ["throw"]);
  return isRaising && !effects.reachesOut && isOnly(effects, [...localKinds, "throw"]);
}

const localKinds = [
  "setVariable",
  "selectStatement",
  "insert",
  "update",
  "delete",
  "if",
  "block",
] as const;
const mildSettings = ["setIsolation", "setLockTimeout", "setDeadlockPriority"] as const;
const beginnings = ["begin", "if"] as const;
const transactions = ["begin", "commit", "rollback", "save"] as const;

function isOnly({ kinds }: Effects, allowed: readonly Statement["kind"][]): boolean {
  return [...kinds].every((kind) => allowed.includes(kind));
}

function meetsKinds({ kinds }: Effects, wanted: readonly Statement["kind"][]): boolean {
  return wanted.some((kind) => kinds.has(kind));
}

/** Where the other one may leave, what `local` writes must be lost there in both orders. */
function mayLeave(source: Source, local: Effects, other: Effects): boolean {
  if (meetsKinds(other, ["break", "continue"])) return false;
  // What fails behind the commit would have undone it before.
  if (meetsKinds(other, ["commit"]) && !isOnly(local, ["setVariable"])) return false;
  if (meetsKinds(other, ["return"]) && meets(local.written, outputsOf(source))) return false;
  return !meets(local.written, namedByHandlers(source));
}

function outputsOf({ batch }: Source): ReadonlySet<string> {
  const [created] = batch.statements;
  if (created?.kind !== "createProcedure") return new Set();
  const outputs = created.parameters.filter(({ isOutput }) => isOutput);
  return new Set(outputs.map(({ name }) => name.toUpperCase()));
}

/** Variables that a CATCH looks at. */
function namedByHandlers(source: Source): ReadonlySet<string> {
  const handlers = source.batch.statements
    .flatMap(statementsIn)
    .flatMap((statement) => (statement.kind === "tryCatch" ? statement.handler : []));
  return new Set(handlers.flatMap((statement) => [...effectsOf(source, statement).named]));
}

/** Is the count of rows of the statement read behind it? Every statement sets it anew. */
function isCounted(source: Source, statement: Statement): boolean {
  const placed = source.statements.find((other) => other.statement === statement);
  const behind = placed?.next;
  // Where a list ends, the next statement stands somewhere around it.
  const tokens =
    behind === undefined ? tokensBehind(source, statement) : source.tokensIn(source.spanOf(behind));
  return tokens.some(({ upper }) => upper === "@@ROWCOUNT");
}

function tokensBehind(source: Source, statement: Statement): Token[] {
  const { end } = source.spanOf(statement);
  return Array.from({ length: 40 }, (_, distance) => source.tokenAt(end, distance) ?? []).flat();
}

function meets(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  return [...some].some((name) => others.has(name));
}
