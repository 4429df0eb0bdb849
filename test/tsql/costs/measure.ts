import { SqlTaskStore } from "../../../shared/store/sql-task-store";
import { shippedWorld } from "../shipped/shipped-world";
import type { Connection } from "../../tsql-server/engine/connection";
import type { Tally } from "../../tsql-server/engine/meter";
import { addTally, newTally } from "../../tsql-server/engine/meter";
import type { Metrics } from "../../tsql-server/engine/metrics";
import { engines } from "../shipped/engines";
import type { EngineName } from "../../tsql-server/engine/options";
import type { World } from "../../tsql-server/engine/world";
import { EngineCaller } from "../mutation/engine-caller";
import { LocalServer } from "../mutation/local-server";
import type { Scene, Scenario } from "./scenario";

/** What one call costs in the model; all of it is counted, nothing is timed. */
export interface Cost {
  /** Requests sent to the server. */
  readonly roundTrips: number;
  /** Locks taken anew, by mode. IS, IX: on tables; the rest: on keys, and on Azure SQL X on the transaction. */
  readonly locks: Readonly<Record<string, number>>;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  /** Deleted entries that were stepped over. */
  readonly ghosts: number;
  /** Statements, index writes, seeks, bytes, how long rows stay locked: what the engine's meter counts. */
  readonly tally: Tally;
}

/** A world in which deleted entries stay until they are cleaned away, so that they can be counted. */
export function worldWithGhosts(engine: EngineName): World {
  return shippedWorld({ ...engines[engine], keepsGhosts: true });
}

/** A copy of a world in which something was done; not counted. */
export async function filled(
  template: World,
  fill: (scene: Scene) => Promise<unknown>,
): Promise<World> {
  const world = template.fork();
  const store = storeOf(world, () => undefined);
  await fill({ store, world, name: "costs", batch: 0 });
  await store.close();
  return world;
}

/** Sets the scene on a copy of a world, then counts what the one call costs. */
export async function measure(
  template: World,
  batch: number,
  prepare: (scene: Scene) => ReturnType<Scenario["prepare"]>,
): Promise<Cost> {
  const world = template.fork();
  world.isMetered = true;
  let answered: Answered[] = [];
  const store = storeOf(
    world,
    ({ metrics, meter }) => void answered.push({ metrics, tally: meter?.call }),
  );
  const call = await prepare({ store, world, name: "costs", batch });
  answered = [];
  await call();
  await store.close();
  return sumOf(answered);
}

function storeOf(world: World, onAnswered: (connection: Connection) => void): SqlTaskStore {
  const server = new LocalServer(world, {
    stepsMax: Number.POSITIVE_INFINITY,
    statementsMax: Number.POSITIVE_INFINITY,
    onAnswered,
  });
  return new SqlTaskStore(new EngineCaller(server), (call) => call());
}

interface Answered {
  readonly metrics: Metrics;
  readonly tally: Tally | undefined;
}

function sumOf(answered: readonly Answered[]): Cost {
  const sum = (count: (metrics: Metrics) => number): number =>
    answered.reduce((total, { metrics }) => total + count(metrics), 0);
  const modes = [...new Set(answered.flatMap(({ metrics }) => [...metrics.locks.keys()]))].sort();
  const tally = newTally();
  for (const one of answered) if (one.tally !== undefined) addTally(tally, one.tally);
  return {
    roundTrips: answered.length,
    locks: Object.fromEntries(
      modes.map((mode) => [mode, sum(({ locks }) => locks.get(mode) ?? 0)]),
    ),
    rowsRead: sum(({ rowsRead }) => rowsRead),
    rowsWritten: sum(({ rowsWritten }) => rowsWritten),
    ghosts: sum(({ ghostsPassed }) => ghostsPassed),
    tally,
  };
}
