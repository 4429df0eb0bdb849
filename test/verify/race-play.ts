import type { EngineName } from "../tsql-server/engine/options";
import { onEngine } from "../tsql/litmus/litmus-case";
import type { RaceCase } from "../tsql/litmus/litmus-case";
import { BatchConnection } from "./batch-connection";
import { clearStage, inSchema, runScript } from "./litmus-play";
import type { Stage } from "./litmus-play";

const deadlockVictim = 1205;

/** What repetitions of a race showed. A server can't be made to take every order, as the model does. */
export interface RaceSeen {
  readonly rounds: number;
  readonly deadlocks: number;
  /** What the case rules out. */
  readonly faults: readonly string[];
}

/** Lets the callers of a race run at the same time, again and again. */
export async function playRace(
  stage: Stage,
  race: RaceCase,
  { engine, rounds }: { engine: EngineName; rounds: number },
): Promise<RaceSeen> {
  let deadlocks = 0;
  const faults = new Set<string>();
  for (let round = 0; round < rounds; round += 1) {
    const seen = await playOnce(stage, race, engine);
    if (seen.hasDeadlock) deadlocks += 1;
    for (const fault of seen.faults) faults.add(fault);
  }
  if (deadlocks > 0 && onEngine(race.deadlock, engine) === "never") {
    faults.add(
      `deadlocks in ${String(deadlocks)} of ${String(rounds)} rounds, where there is to be none`,
    );
  }
  return { rounds, deadlocks, faults: [...faults] };
}

async function playOnce(
  stage: Stage,
  race: RaceCase,
  engine: EngineName,
): Promise<{ hasDeadlock: boolean; faults: string[] }> {
  const connections: BatchConnection[] = [];
  try {
    await runScript(stage, race.setup);
    const callers = Object.values(race.callers);
    while (connections.length < callers.length) {
      connections.push(await BatchConnection.open(stage.url, "taskgate litmus"));
    }
    const errors = await Promise.all(
      connections.map((connection, index) => runAll(stage, connection, callers[index] ?? [])),
    );
    await Promise.all(connections.map((connection) => connection.close()));
    const all = errors.flat();
    const hasDeadlock = all.includes(deadlockVictim);
    const known = new Set([deadlockVictim, ...(race.errors ?? [])]);
    const faults = all
      .filter((number) => !known.has(number))
      .map((number) => `error ${String(number)}`);
    if (!hasDeadlock) faults.push(...(await wrongEnd(stage, race, engine)));
    return { hasDeadlock, faults };
  } finally {
    await Promise.all(connections.map((connection) => connection.close()));
    await clearStage(stage, race.setup);
  }
}

/** All batches of a caller, also after a failed one; an open transaction is rolled back when the connection is closed. */
async function runAll(
  stage: Stage,
  connection: BatchConnection,
  batches: readonly string[],
): Promise<number[]> {
  const errors: number[] = [];
  for (const batch of batches)
    errors.push(...(await connection.run(inSchema(stage, batch))).errors);
  return errors;
}

async function wrongEnd(stage: Stage, race: RaceCase, engine: EngineName): Promise<string[]> {
  const { end } = race;
  if (end === undefined) return [];
  const connection = await BatchConnection.open(stage.url, "taskgate litmus");
  try {
    const { rows } = await connection.must(inSchema(stage, end.sql));
    const found = JSON.stringify(rows);
    const allowed = onEngine(end.rows, engine).map((one) => JSON.stringify(one));
    return allowed.includes(found) ? [] : [`ended with ${found}, not one of ${allowed.join(" ")}`];
  } finally {
    await connection.close();
  }
}
