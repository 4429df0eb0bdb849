import type { CollectedAnswer } from "../../tsql-server/engine/answer";
import type { EngineName } from "../../tsql-server/engine/options";
import { engines } from "../shipped/engines";
import type { World } from "../../tsql-server/engine/world";
import type { Run, Scenario } from "../../tsql-server/schedule/run";
import { callerOf } from "../../tsql-server/schedule/run";
import type { SqlValue } from "../../tsql-server/values";
import { fromScript } from "./play";

/** Callers with their batches over a script's tables: for searches. */
export interface TextCase {
  readonly script: string;
  readonly callers: readonly (readonly string[])[];
  readonly engine: EngineName;
  readonly atEnd: (run: Run) => string | undefined;
  /** A request may wait, or get an error. */
  readonly afterStep?: Scenario["afterStep"];
}

export function textScenario(given: TextCase): Scenario {
  const prepared: World = fromScript(given.script)(engines[given.engine]);
  return {
    world: () => prepared.fork(),
    callers: given.callers.map((batches, place) =>
      callerOf(
        `caller ${String(place + 1)}`,
        batches.map((sql) => ({ kind: "batch" as const, sql })),
      ),
    ),
    atEnd: given.atEnd,
    ...(given.afterStep === undefined ? {} : { afterStep: given.afterStep }),
  };
}

/** Values of a column in all answers of a run. */
export function valuesOf(run: Run, column: string): SqlValue[] {
  return run.callers
    .flatMap(({ answers }) => answers)
    .flatMap((answer: CollectedAnswer) =>
      answer.rowSets.flatMap((_set, place) => answer.objects(place)),
    )
    .flatMap((row) => (column in row ? [row[column] ?? null] : []));
}

export function errorsOf(run: Run): number[] {
  return run.callers.flatMap(({ answers }) =>
    answers.flatMap(({ errors }) => errors.map(({ number }) => number)),
  );
}
