import { loadScript } from "../../tsql-server/engine/load";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
import { engines } from "../shipped/engines";
import { World } from "../../tsql-server/engine/world";
import type { Exploration } from "../../tsql-server/schedule/explore";
import { exploreAll } from "../../tsql-server/schedule/explore";
import type { Run, Scenario } from "../../tsql-server/schedule/run";
import { callerOf } from "../../tsql-server/schedule/run";
import { runAlone } from "../../tsql-server/schedule/step";
import { onEngine } from "./litmus-case";
import type { ConnectionName, Possibility, RaceCase, Row } from "./litmus-case";
import { toRow } from "./run-in-model";

/** What every order of a race has shown. */
export interface RaceResult {
  readonly deadlock: Possibility;
  readonly wait: Possibility | undefined;
  /** Answers of the query at the end, in orders without a deadlock, sorted. */
  readonly ends: readonly string[];
}

/** What a case wants on an engine. */
export function expectedRace(race: RaceCase, engine: EngineName): RaceResult {
  const ends = race.end === undefined ? [] : onEngine(race.end.rows, engine);
  return {
    deadlock: onEngine(race.deadlock, engine),
    wait: race.wait === undefined ? undefined : onEngine(race.wait, engine),
    ends: ends.map((rows) => JSON.stringify(rows)).sort(),
  };
}

/** Takes a race through all orders in the model. */
export function raceInModel(
  race: RaceCase,
  engine: EngineName,
): { readonly result: RaceResult; readonly seen: Exploration } {
  const ends = new Set<string>();
  const scenario = scenarioOf(race, engine, (run) => {
    if (race.end === undefined || run.world.deadlocks > 0) return;
    ends.add(JSON.stringify(query(run, race.end.sql)));
  });
  const seen = exploreAll(scenario);
  const result: RaceResult = {
    deadlock: seen.deadlocks.length > 0 ? "possible" : "never",
    wait: race.wait === undefined ? undefined : seen.waits > 0 ? "possible" : "never",
    ends: [...ends].sort(),
  };
  return { result, seen };
}

/** A race as a scenario: for searches, and to replay a schedule. */
export function scenarioOf(
  race: RaceCase,
  engine: EngineName,
  atEnd?: (run: Run) => void,
): Scenario {
  const options: EngineOptions = {
    ...engines[engine],
    pipelinesWrites: race.pipelinesWrites ?? engines[engine].pipelinesWrites,
  };
  const prepared = new World(options);
  loadScript(prepared, race.setup, "setup");
  const expected = new Set([1205, ...(race.errors ?? [])]);
  const names = Object.keys(race.callers).sort() as ConnectionName[];
  return {
    world: () => prepared.fork(),
    callers: names.map((name) =>
      callerOf(
        name,
        (race.callers[name] ?? []).map((sql) => ({ kind: "batch", sql })),
      ),
    ),
    atEnd: (run) => {
      atEnd?.(run);
      const errors = run.callers.flatMap(({ answers }) =>
        answers.flatMap((answer) => answer.errors),
      );
      const strange = errors.find(({ number }) => !expected.has(number));
      return strange === undefined
        ? undefined
        : `error ${String(strange.number)}: ${strange.message}`;
    },
  };
}

function query(run: Run, sql: string): Row[] {
  const answer = runAlone(run.world.connect(), { kind: "batch", sql });
  const [error] = answer.errors;
  if (error !== undefined) throw error;
  return (answer.rowSets.at(-1)?.rows ?? []).map(toRow);
}
