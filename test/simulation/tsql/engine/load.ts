import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listLogic } from "../../../../shared/store/migrator";
import { runAlone } from "../schedule/step";
import { parseScript } from "../syntax/parser";
import type { EngineOptions } from "./options";
import { engines } from "./options";
import { SimulationError } from "./sql-error";
import { World } from "./world";

/** Puts T-SQL files into a world, as a migrator would: batch by batch, each as it stands. */

const folder = join(__dirname, "../../../../shared/store/mssql/sql");

/** Runs a file's batches; an error of any of them is a fault of the test. */
export function loadScript(world: World, text: string, fileName: string): void {
  const connection = world.connect();
  for (const { statements, line } of parseScript(text, fileName)) {
    const { errors } = runAlone(connection, { kind: "file", fileName, statements });
    const [error] = errors;
    if (error !== undefined) {
      throw new SimulationError(
        `${fileName}:${error.line} (batch of line ${line}): ${error.number} ${error.message}`,
      );
    }
  }
  world.forget(connection);
}

export interface ShippedFile {
  /** Relative to the T-SQL folder. */
  readonly name: string;
  readonly text: string;
}

/** Everything that is shipped, in the order in which it is installed. */
export function shippedFiles(): ShippedFile[] {
  const migrations = readdirSync(join(folder, "migrations"))
    .filter((name) => name.endsWith(".sql"))
    .sort()
    .map((name) => `migrations/${name}`);
  return [...migrations, ...listLogic(folder)].map((name) => ({
    name,
    text: readFileSync(join(folder, name), "utf8"),
  }));
}

let installed: World | undefined;

/**
 * A world with the shipped schema and procedures, and no rows but those of the baseline. The files are read and bound once
 * per process; each call gives a copy. `edit` changes files on the way: for planted bugs.
 */
export function shippedWorld(
  options: EngineOptions = engines.azure,
  edit?: (file: ShippedFile) => string,
): World {
  if (edit !== undefined) return install(options, edit);
  installed ??= install(engines.azure, (file) => file.text);
  return installed.fork(options);
}

function install(options: EngineOptions, edit: (file: ShippedFile) => string): World {
  const world = new World(options);
  for (const file of shippedFiles()) loadScript(world, edit(file), file.name);
  return world;
}
