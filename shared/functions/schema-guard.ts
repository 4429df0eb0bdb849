import { SchemaError, StoreForbiddenError } from "../core/errors";
import type { Clock } from "../ports/clock";
import type { Logger } from "../ports/logger";

/** How long a refusal stands before the database is asked again: a schema that is migrated meanwhile is found. */
const refusalMs = 10_000;

/** What the guard needs. */
export interface SchemaGuardOptions {
  /** Resolves when the schema fits this code; throws the reason with what to do. */
  readonly check: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Lets nothing work on a schema that is missing, too old or too new, instead of a hundred calls failing each in its own
 * way. The database is asked once per process when the schema fits; a refusal is logged once, stands for 10 s for every
 * invocation, then the database is asked again. A database that can't be reached decides nothing.
 */
export class SchemaGuard {
  #fits = false;
  #refusal: { readonly error: Error; readonly untilMs: number } | null = null;
  #logged = "";

  /** Has the schema been found to fit? */
  get fits(): boolean {
    return this.#fits;
  }

  /** The next one asks again: after an outage the database may be another one. */
  forget(): void {
    this.#fits = false;
  }

  /** Resolves when the schema fits. Throws SchemaError or StoreForbiddenError, or that the database can't be reached. */
  async pass({ check, clock, logger }: SchemaGuardOptions): Promise<void> {
    if (this.#fits) return;
    if (this.#refusal !== null && clock.monotonicMs() < this.#refusal.untilMs) {
      throw this.#refusal.error;
    }
    try {
      await check();
      this.#fits = true;
    } catch (error) {
      if (error instanceof SchemaError || error instanceof StoreForbiddenError) {
        this.#refusal = { error, untilMs: clock.monotonicMs() + refusalMs };
        if (this.#logged !== error.message) {
          logger.error("the database can't be used by this version", { error: error.message });
        }
        this.#logged = error.message;
      }
      throw error;
    }
  }
}
