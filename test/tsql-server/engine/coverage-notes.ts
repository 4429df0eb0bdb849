import type { If, Statement, While } from "../syntax/ast-statements";
import type { Frame } from "./frame";
import { SimulationError } from "./sql-error";

/** Notes which statements and branches run. */

export function noteRun(frame: Frame, statement: Statement): void {
  const { world } = frame.connection;
  world.statementsLeft -= 1;
  if (world.statementsLeft < 0) {
    throw new SimulationError(
      `${frame.moduleName}:${statement.line}: more statements than the test allows`,
    );
  }
  if (frame.moduleName === "") return;
  const { statements } = frame.coverage;
  const known = statements.get(statement.statementId);
  if (known === undefined) statements.set(statement.statementId, { line: statement.line, runs: 1 });
  else known.runs += 1;
}

export function noteBranch(frame: Frame, statement: If | While, isTaken: boolean): void {
  if (frame.moduleName === "") return;
  const { branches } = frame.coverage;
  let known = branches.get(statement.statementId);
  if (known === undefined) {
    known = { line: statement.line, taken: 0, passed: 0 };
    branches.set(statement.statementId, known);
  }
  if (isTaken) known.taken += 1;
  else known.passed += 1;
}
