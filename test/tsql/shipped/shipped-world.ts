import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listLogic } from "../../../shared/store/migrator";
import { loadScript } from "../../tsql-server/engine/load";
import type { EngineOptions } from "../../tsql-server/engine/options";
import { World } from "../../tsql-server/engine/world";
import { engines } from "./engines";

const folder = join(__dirname, "../../../shared/store/mssql/sql");

/** A shipped T-SQL file. */
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
