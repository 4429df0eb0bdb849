import { runAlone } from "../schedule/step";
import type { SqlValue } from "../values";
import type { CollectedAnswer } from "./answer";
import type { Connection } from "./connection";
import { loadScript } from "./load";
import type { EngineOptions } from "./options";
import { engines } from "./options";
import { World } from "./world";

/** A world of a test's own, and connections that are asked one after the other. */
export class Bench {
  readonly world: World;
  readonly connection: Connection;

  constructor(setup = "", options: EngineOptions = engines.azure) {
    this.world = new World(options);
    if (setup !== "") loadScript(this.world, setup, "setup");
    this.connection = this.world.connect();
  }

  /** Runs a batch; what goes wrong is in the answer. */
  ask(sql: string, connection = this.connection): CollectedAnswer {
    return runAlone(connection, { kind: "batch", sql });
  }

  /** Rows of the last row set; an error is thrown. */
  rows(sql: string, connection = this.connection): SqlValue[][] {
    const answer = this.ask(sql, connection);
    const [error] = answer.errors;
    if (error !== undefined) throw error;
    return answer.rowSets.at(-1)?.rows ?? [];
  }

  /** Numbers of the errors. */
  errors(sql: string, connection = this.connection): number[] {
    return this.ask(sql, connection).errors.map((error) => error.number);
  }
}
