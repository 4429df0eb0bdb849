import type { Expression, Predicate } from "../syntax/ast";
import type { Declare, If, Return, Statement, TryCatch, While } from "../syntax/ast-statements";
import type { Binder } from "./bind/binder";
import { convertTo } from "./bind/conversions";
import { bindExpression } from "./bind/expressions";
import { bindPredicate } from "./bind/predicates";
import { Scope } from "./bind/scope";
import { noteBranch, noteRun } from "./coverage-notes";
import { declareVariables } from "./declarations";
import { settleError } from "./errors";
import type { Condition, Scalar } from "./expression";
import type { Frame } from "./frame";
import { compileLeaf } from "./leaf-statements";
import type { Need } from "./rights";
import { requireRights, settledNeeds } from "./rights";
import { SqlError } from "./sql-error";
import type { Steps } from "./steps";
import { isSteps } from "./steps";
import { runStatement } from "./statement-run";
import type { SqlType, SqlValue } from "../values";
import type { World } from "./world";
import { intType } from "./types";

/** How a statement ended: on to the next one, or out of a loop or the module. */
export type Flow = "next" | "break" | "continue" | "return";

export type Runner = (frame: Frame) => Flow | Steps<Flow>;

/** A loop that goes on for longer than any of ours ever should is a fault. */
const roundsMax = 100_000;

/** A module's statements as closures: each is compiled when it is first reached, as on the server. */
export class Program {
  readonly binder: Binder;
  readonly #body: readonly Statement[];
  readonly #runners = new Map<Statement, Runner>();
  /** The same text bound to the catalogue as it is by now, should the module itself have changed that. */
  readonly #present: (world: World) => Program;

  constructor(binder: Binder, body: readonly Statement[], present: (world: World) => Program) {
    this.binder = binder;
    this.#body = body;
    this.#present = present;
    declareVariables(body, binder);
  }

  run(frame: Frame): Steps<Flow> {
    requireRights(this.binder.types, frame.connection);
    return this.#runAll(this.#body, frame);
  }

  /** Binds and plans all statements, also those inside others: for checks of what never ran. */
  compileAll(): void {
    forEachStatement(this.#body, (statement) => {
      this.#runnerOf(statement);
    });
    for (const scan of this.binder.allScans) scan.checkPlan();
  }

  *#runAll(statements: readonly Statement[], frame: Frame): Steps<Flow> {
    for (const statement of statements) {
      const result = this.#runOne(statement, frame);
      const flow = isSteps(result) ? yield* result : result;
      if (flow !== "next") return flow;
    }
    return "next";
  }

  /** Only statements that may wait cost a generator. */
  #runOne(statement: Statement, frame: Frame): Flow | Steps<Flow> {
    const { connection } = frame;
    connection.place.moduleName = frame.moduleName;
    connection.place.line = statement.line;
    noteRun(frame, statement);
    connection.meter?.statement(statement);
    try {
      const result = this.#present(connection.world).#runnerOf(statement)(frame);
      if (isSteps(result)) return this.#runInSteps(result, statement, frame);
      connection.lastError = 0;
      return result;
    } catch (error) {
      return raise(error, statement, frame);
    }
  }

  *#runInSteps(steps: Steps<Flow>, statement: Statement, frame: Frame): Steps<Flow> {
    try {
      const flow = yield* steps;
      if (statement.kind !== "tryCatch") frame.connection.lastError = 0;
      return flow;
    } catch (error) {
      return raise(error, statement, frame);
    }
  }

  #runnerOf(statement: Statement): Runner {
    let runner = this.#runners.get(statement);
    if (runner === undefined) {
      const from = this.binder.needs.length;
      runner = guarded(this.#compile(statement), settledNeeds(this.binder.needs.splice(from)));
      this.#runners.set(statement, runner);
    }
    return runner;
  }

  #compile(statement: Statement): Runner {
    switch (statement.kind) {
      case "block":
        return (frame) => this.#runAll(statement.body, frame);
      case "if":
        return this.#compileIf(statement);
      case "while":
        return this.#compileWhile(statement);
      case "break":
      case "continue": {
        const flow = statement.kind;
        return () => flow;
      }
      case "tryCatch":
        return (frame) => this.#runTry(statement, frame);
      case "return":
        return this.#compileReturn(statement);
      case "declare":
        return this.#compileDeclare(statement);
      case "setVariable":
        return this.#compileSet(statement);
      default:
        return compileLeaf(statement, this.binder);
    }
  }

  // ---- control

  /** A condition with queries reads like a statement of its own. */
  #condition(node: Predicate): (frame: Frame) => boolean | Steps<boolean> {
    const { result: condition, scans } = this.#bind((scope) => bindPredicate(node, scope));
    if (condition.run === undefined) return (frame) => condition.test(frame) === true;
    return (frame) => {
      frame.connection.meter?.condition();
      return runStatement(frame, scans, () => isTrue(condition, frame));
    };
  }

  #bind<Result>(bind: (scope: Scope) => Result): { result: Result; scans: Binder["scans"] } {
    const from = this.binder.scans.length;
    const result = bind(new Scope(this.binder));
    return { result, scans: this.binder.scans.splice(from) };
  }

  #compileIf(statement: If): Runner {
    const test = this.#condition(statement.condition);
    const { then, otherwise } = statement;
    const choose = (frame: Frame, isTaken: boolean): Flow | Steps<Flow> => {
      noteBranch(frame, statement, isTaken);
      frame.connection.rowCount = 0;
      if (isTaken) return this.#runOne(then, frame);
      return otherwise === undefined ? "next" : this.#runOne(otherwise, frame);
    };
    return (frame) => {
      const result = test(frame);
      return isSteps(result)
        ? chooseLater(result, (isTaken) => choose(frame, isTaken))
        : choose(frame, result);
    };
  }

  #compileWhile(statement: While): Runner {
    const test = this.#condition(statement.condition);
    const run = function* (this: Program, frame: Frame): Steps<Flow> {
      for (let round = 0; ; round += 1) {
        if (round > roundsMax)
          throw new Error(`${this.binder.place(statement.line)}: the loop doesn't end`);
        const result = test(frame);
        const isOn = isSteps(result) ? yield* result : result;
        noteBranch(frame, statement, isOn);
        if (!isOn) return "next";
        const body = this.#runOne(statement.body, frame);
        const flow = isSteps(body) ? yield* body : body;
        if (flow === "break") return "next";
        if (flow === "return") return flow;
      }
    };
    return run.bind(this);
  }

  *#runTry(statement: TryCatch, frame: Frame): Steps<Flow> {
    const { connection } = frame;
    const depth = connection.tryDepth;
    connection.tryDepth += 1;
    let error: SqlError;
    try {
      return yield* this.#runAll(statement.body, frame);
    } catch (raised) {
      if (!(raised instanceof SqlError)) throw raised;
      error = raised;
    } finally {
      connection.tryDepth = depth;
    }
    connection.caught.push(error);
    connection.lastError = error.number;
    try {
      return yield* this.#runAll(statement.handler, frame);
    } finally {
      connection.caught.pop();
    }
  }

  // ---- variables

  #compileReturn(statement: Return): Runner {
    if (statement.value === undefined) return () => "return";
    const assign = this.#assignment(statement.value, undefined);
    return (frame) =>
      assign(frame, (value) => {
        frame.returnValue = value;
        return "return";
      });
  }

  /** Evaluates in steps where it takes steps, then hands the value on. */
  #assignment(
    node: Expression,
    type: SqlType | undefined,
  ): (frame: Frame, use: (value: SqlValue) => Flow) => Flow | Steps<Flow> {
    const { result: scalar, scans } = this.#bind((scope) => {
      const bound = bindExpression(node, scope);
      const target = type ?? this.binder.returnType ?? intType;
      return convertTo(bound, target);
    });
    if (scalar.run === undefined) return (frame, use) => use(scalar.evaluate(frame));
    return (frame, use) => runStatement(frame, scans, () => useLater(scalar, frame, use));
  }

  #compileDeclare(statement: Declare): Runner {
    const parts = statement.declarations.flatMap((declaration) => {
      if (declaration.kind !== "scalar" || declaration.value === undefined) return [];
      const variable = this.binder.variable(declaration.name);
      return [
        { place: variable.place, assign: this.#assignment(declaration.value, variable.type) },
      ];
    });
    return (frame) => assignFrom(parts, frame);
  }

  #compileSet(statement: Extract<Statement, { kind: "setVariable" }>): Runner {
    const { place, type } = this.binder.variable(statement.variable);
    const { line } = statement;
    const value: Expression =
      statement.operator === "="
        ? statement.value
        : {
            kind: "arithmetic",
            operator: statement.operator.charAt(0) as "+",
            left: { kind: "variable", name: statement.variable, line },
            right: statement.value,
            line,
          };
    const assign = this.#assignment(value, type);
    return (frame) =>
      assign(frame, (result) => {
        frame.variables[place] = result;
        frame.connection.rowCount = 1;
        return "next";
      });
  }
}

/** Asked for each time, since who may do what changes; owners are asked nothing. */
function guarded(runner: Runner, needs: readonly Need[]): Runner {
  if (needs.length === 0) return runner;
  return (frame) => {
    requireRights(needs, frame.connection);
    return runner(frame);
  };
}

interface InitialValue {
  readonly place: number;
  readonly assign: (frame: Frame, use: (value: SqlValue) => Flow) => Flow | Steps<Flow>;
}

/** In order; in steps from the first value on that takes steps. */
function assignFrom(parts: readonly InitialValue[], frame: Frame): Flow | Steps<Flow> {
  for (const [at, { place, assign }] of parts.entries()) {
    const result = assign(frame, (value) => {
      frame.variables[place] = value;
      return "next";
    });
    if (isSteps(result)) return assignLater(result, parts.slice(at + 1), frame);
  }
  return "next";
}

function* assignLater(
  first: Steps<Flow>,
  rest: readonly InitialValue[],
  frame: Frame,
): Steps<Flow> {
  yield* first;
  const result = assignFrom(rest, frame);
  return isSteps(result) ? yield* result : result;
}

/** Told, and on to the next statement; or out of here. */
function raise(error: unknown, statement: Statement, frame: Frame): Flow {
  if (!(error instanceof SqlError)) throw error;
  if (error.line === 0) {
    error.line = statement.line;
    error.procedure = frame.moduleName;
  }
  if (!settleError(frame.connection, error)) throw error;
  return "next";
}

function* chooseLater(
  test: Steps<boolean>,
  choose: (isTaken: boolean) => Flow | Steps<Flow>,
): Steps<Flow> {
  const result = choose(yield* test);
  return isSteps(result) ? yield* result : result;
}

function* isTrue(condition: Condition, frame: Frame): Steps<boolean> {
  return condition.run === undefined
    ? condition.test(frame) === true
    : (yield* condition.run(frame)) === true;
}

function* useLater(scalar: Scalar, frame: Frame, use: (value: SqlValue) => Flow): Steps<Flow> {
  return use(scalar.run === undefined ? scalar.evaluate(frame) : yield* scalar.run(frame));
}

function forEachStatement(
  statements: readonly Statement[],
  visit: (statement: Statement) => void,
): void {
  for (const statement of statements) {
    visit(statement);
    if (statement.kind === "block") forEachStatement(statement.body, visit);
    if (statement.kind === "while") forEachStatement([statement.body], visit);
    if (statement.kind === "if") {
      forEachStatement(
        statement.otherwise === undefined
          ? [statement.then]
          : [statement.then, statement.otherwise],
        visit,
      );
    }
    if (statement.kind === "tryCatch")
      forEachStatement([...statement.body, ...statement.handler], visit);
  }
}
