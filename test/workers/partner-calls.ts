import { withTokens } from "../../shared/worker/run/with-tokens";
import type { Chance } from "./chance";
import type { Host } from "./host";
import type { World } from "./watch";
import type { WorkerProcess } from "./worker-process";

/** Bodies that may run at once. */
const limit = 2;
const leaseMs = 3_000;

interface PartnerCall {
  readonly host: Host;
  readonly signal: AbortSignal;
  readonly beganMs: number;
}

/**
 * Code of the user's own that runs on tokens alone (`withTokens`), counted from inside the bodies. Left out are
 * bodies of dead hosts, those that have been told to stop, and those whose host stood still meanwhile.
 */
export class PartnerCalls {
  readonly #world: World;
  readonly #chance: Chance;
  readonly #calls = new Set<PartnerCall>();
  #begun = 0;

  constructor(world: World, chance: Chance) {
    this.#world = world;
    this.#chance = chance;
  }

  /** Bodies begun so far. */
  get begun(): number {
    return this.#begun;
  }

  /** One invocation; `limited` is an answer. Throws when the database can't be reached. */
  async make({ host, tokens }: WorkerProcess): Promise<void> {
    await withTokens(
      tokens,
      { limit: { name: "partner", limit, leaseMs }, waitMs: this.#chance.whole(0, 3_000) },
      async ({ signal }) => {
        this.#begun += 1;
        const call: PartnerCall = { host, signal, beganMs: this.#world.time.nowMs };
        this.#calls.add(call);
        this.#check();
        await host.sleep(this.#chance.between(10, 5_000), signal);
        this.#calls.delete(call);
      },
    );
  }

  #check(): void {
    if (this.#world.isSettingBack) return;
    const running = [...this.#calls].filter(
      ({ host, signal, beganMs }) => !host.isDead && !signal.aborted && !host.wasHeldUp(beganMs),
    );
    if (running.length > limit)
      this.#world.violate(
        "limit",
        `${String(running.length)} bodies run on ${String(limit)} tokens: ${running.map((call) => call.host.name).join(", ")}`,
      );
  }
}
