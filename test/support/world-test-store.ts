import type { World } from "../tsql-server/engine/world";
import { MssqlTestStore } from "./mssql-setup";
import type { MssqlStores } from "./mssql-setup";

/** Tables whose rows tell whether an operation has written anything. */
const watchedTables = new Set(["TokenDemand", "TaskDefinition", "TaskExecution", "Task", "Ready"]);

/** A store over the simulated SQL Server: its clock is the world's, and its rows can be looked at without a statement. */
export class WorldTestStore extends MssqlTestStore {
  readonly #world: World;

  constructor(stores: MssqlStores, world: World) {
    super(stores);
    this.#world = world;
  }

  override now(): Promise<Date> {
    return Promise.resolve(new Date(this.#world.clock));
  }

  override advance(ms: number): Promise<void> {
    this.#world.clock += ms;
    return Promise.resolve();
  }

  /** Each row with the commit that wrote it last: a write of the same values is seen, too. */
  override readVersions(): Promise<string> {
    const versions = [...this.#world.tables]
      .filter(({ schema }) => watchedTables.has(schema.name))
      .map((table) => [
        table.schema.name,
        [...table.liveRows()].map((row) => [row.id, row.sequence]),
      ]);
    return Promise.resolve(JSON.stringify(versions));
  }
}
