import { textOf } from "../cases/calls";
import type { SetupStep } from "../cases/model-case";
import { requestOf } from "../cases/requests";
import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { runAlone } from "../../tsql-server/schedule/step";

/** More than a case needs: a mutant may have a loop that takes no step. */
const statementsMax = 50_000;

export function bounded(world: World): World {
  world.statementsLeft = statementsMax;
  return world;
}

/** A copy of a world in which the setup of a case has been done. */
export function setUp(setup: readonly SetupStep[], template: World): World {
  const world = bounded(template.fork());
  const connection = world.connect();
  for (const step of setup) {
    if (step.kind === "later") {
      world.clock += step.ms;
      continue;
    }
    const [error] = runAlone(connection, requestOf(step)).errors;
    if (error !== undefined) {
      throw new SimulationError(`Error ${error.number} in the setup: ${textOf(step)}`);
    }
  }
  world.forget(connection);
  return world;
}
