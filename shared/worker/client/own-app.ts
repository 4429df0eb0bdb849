import { commandWord } from "../../core/command-word";
import { InvalidArgumentError } from "../../core/errors";
import { limits } from "../../core/limits";
import type { Clock } from "../../ports/clock";
import type { AppAddress, TaskStore } from "../../ports/task-store";

/** The app that this process is part of. */
export interface AppIdentity {
  readonly name: string;
  /** Names of its definitions. */
  readonly definitions: readonly string[];
  /** Where its hints go; null: not known. */
  readonly address: AppAddress | null;
}

/** The time after which processes of the old app leave a definition alone that was handed over. */
const freshMs = 60_000;

/**
 * What the database says of the app's definitions: a definition belongs to the first app that registers it. Asked by the first
 * use, and again when the last answer is a minute old.
 */
export class OwnApp {
  readonly #app: AppIdentity;
  readonly #services: { readonly store: Pick<TaskStore, "registerApp">; readonly clock: Clock };
  #asking: Promise<ReadonlyMap<string, string>> | null = null;
  #known: { readonly refused: ReadonlyMap<string, string>; readonly askedAtMs: number } | null =
    null;

  constructor(
    app: AppIdentity,
    services: { readonly store: Pick<TaskStore, "registerApp">; readonly clock: Clock },
  ) {
    this.#app = app;
    this.#services = services;
  }

  /** Definitions of this app's code that belong to other apps, each with its owner. */
  async refused(): Promise<ReadonlyMap<string, string>> {
    const known = this.#known;
    if (known !== null && this.#services.clock.monotonicMs() - known.askedAtMs < freshMs)
      return known.refused;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** Throws InvalidArgumentError (TASKGATE_ARG_OWNER) when the definition belongs to another app. */
  async require(definition: string): Promise<void> {
    const owner = (await this.refused()).get(definition);
    if (owner !== undefined) throw this.refusal(new Map([[definition, owner]]));
  }

  /** The error that names both apps and the way out. */
  refusal(refused: ReadonlyMap<string, string>): InvalidArgumentError {
    const { name } = this.#app;
    const owners = [...refused].map(([definition, owner]) => `${definition} belongs to ${owner}`);
    const [only = ""] = refused.keys();
    const way =
      refused.size === 1
        ? `Give the task another name, or hand the definition over: taskgate owner ${commandWord(only)} ${commandWord(name)}`
        : `Give the tasks other names, or hand each definition over: taskgate owner NAME ${commandWord(name)}`;
    return new InvalidArgumentError(
      `definition: expected one that app ${name} may run (${owners.join(", ")}). ${way}`,
      { code: "TASKGATE_ARG_OWNER", details: { app: name, owners: Object.fromEntries(refused) } },
    );
  }

  async #ask(): Promise<ReadonlyMap<string, string>> {
    const { store, clock } = this.#services;
    const { name, definitions, address } = this.#app;
    const refused = new Map<string, string>();
    const askedAtMs = clock.monotonicMs();
    for (let at = 0; at === 0 || at < definitions.length; at += limits.appDefinitionsMax) {
      const some = definitions.slice(at, at + limits.appDefinitionsMax);
      const answer = await store.registerApp({ app: name, definitions: some, address });
      for (const other of answer.refused) refused.set(other.name, other.app);
    }
    this.#known = { refused, askedAtMs };
    return refused;
  }
}
