import { join } from "node:path";
import type { Agent } from "../agent";
import { nodeStacks } from "./node-stacks";
import { startPerf } from "./perf";
import type { Stack } from "./stacks";

/** The stacks of one measured stretch. */
export interface TakenStacks {
  /** null: they can't be seen here. */
  readonly server: readonly Stack[] | null;
  /** Of all measured processes together. */
  readonly clients: readonly Stack[];
}

/** Takes the stacks of the server and of Node's processes while a scenario is measured. */
export class StackTaker {
  readonly #folder: string;
  readonly #canSeeServer: boolean;
  #taken: TakenStacks | null = null;

  constructor(folder: string, canSeeServer: boolean) {
    this.#folder = folder;
    this.#canSeeServer = canSeeServer;
  }

  /** The answer ends it. */
  async start(serverPid: number, agents: readonly Agent[]): Promise<() => Promise<void>> {
    const endPerf = this.#canSeeServer
      ? await startPerf(serverPid, join(this.#folder, "perf.data"))
      : async () => null;
    await Promise.all(agents.map((agent) => agent.call("startProfile", {})));
    return async () => {
      const profiles = await Promise.all(agents.map((agent) => agent.call("endProfile", {})));
      this.#taken = { server: await endPerf(), clients: profiles.flatMap(nodeStacks) };
    };
  }

  /** What the last stretch has given. Throws an Error when none was taken. */
  take(): TakenStacks {
    if (this.#taken === null)
      throw new Error("no stacks were taken: the scenario measured nothing");
    const taken = this.#taken;
    this.#taken = null;
    return taken;
  }
}
