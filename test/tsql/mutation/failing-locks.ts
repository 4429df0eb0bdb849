import { textOf } from "../cases/calls";
import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import { SimulationError, sqlErrors } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { CollectedAnswer } from "../../tsql-server/engine/answer";
import { startRequest, step } from "../../tsql-server/schedule/step";
import { parseScript } from "../../tsql-server/syntax/parser";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { joiningCases, operationCases } from "./operation-cases";
import type { OperationCase } from "./operation-cases";
import { bounded, setUp } from "./set-up";

/*
 * An operation that fails at any of its locks, called by code that catches the error: the error is told, and the
 * operation's own transaction is rolled back, while a user's is the user's to roll back.
 */

/** What the caller's CATCH sees: the number of the error, XACT_STATE() and @@TRANCOUNT; none when it sees no error. */
export type Caught = readonly [error: number, state: number, open: number] | "none";

/** One for each lock, each different one once. */
export function caughtAtLocks(
  { setup, call }: OperationCase,
  template: World,
  isJoining: boolean,
): Caught[] {
  const prepared = setUp(setup, template);
  const [batch] = parseScript(catching(textOf(call), isJoining), "caller");
  const statements = batch?.statements ?? [];
  const seen = new Map<string, Caught>();
  for (let lock = 0; lock < locksMax; lock += 1) {
    const world = bounded(prepared.fork());
    const connection = world.connect();
    const answer = new CollectedAnswer();
    startRequest(connection, { kind: "file", fileName: "caller", statements }, answer);
    for (let taken = 0; taken < lock && isReady(connection); taken += 1) step(connection);
    if (!isReady(connection)) break;
    connection.failure = sqlErrors.lockTimeout();
    while (isReady(connection)) step(connection);
    const caught = caughtBy(answer);
    seen.set(String(caught), caught);
  }
  return [...seen.values()];
}

/** More than any operation takes. */
const locksMax = 500;

function isReady({ state }: { readonly state: string }): boolean {
  return state === "ready";
}

function catching(call: string, isJoining: boolean): string {
  return `${isJoining ? "BEGIN TRANSACTION;" : ""}
BEGIN TRY
  ${call}
END TRY
BEGIN CATCH
  SELECT ERROR_NUMBER() AS [Error], XACT_STATE() AS [State], @@TRANCOUNT AS [Open];
END CATCH;`;
}

function caughtBy(answer: CollectedAnswer): Caught {
  const row =
    answer.rowSets.length === 0 ? undefined : answer.objects(answer.rowSets.length - 1)[0];
  if (row?.["Error"] === undefined) return "none";
  return [Number(row["Error"]), Number(row["State"]), Number(row["Open"])];
}

/** Operations as checks of mutants: their callers catch nothing else than with the shipped files. */
export function failingChecks(): Check[] {
  return [
    ...operationCases().map((operation) => toCheck(operation, false)),
    ...joiningCases().map((operation) => toCheck(operation, true)),
  ];
}

function toCheck(operation: OperationCase, isJoining: boolean): Check {
  const shipped = shippedWorld(engines.azure);
  const watch = new CoverageWatch(shipped);
  const known = caughtAtLocks(operation, shipped, isJoining).map(String);
  return {
    title: `errors of ${operation.name}`,
    ran: watch.ran(),
    size: 1,
    run: (template): Promise<Noticed | undefined> => {
      try {
        const other = caughtAtLocks(operation, template, isJoining).find(
          (caught) => !known.includes(String(caught)),
        );
        const why = `its caller catches ${String(other)}`;
        return Promise.resolve(other === undefined ? undefined : { by: "error", why });
      } catch (error) {
        if (!(error instanceof SimulationError)) throw error;
        return Promise.resolve({ by: "engine", why: error.message });
      }
    },
  };
}
