import { realClock, sleep } from "../platform/real-clock";
import type { Logger } from "../ports/logger";
import { Breaker, checkStoreSchema } from "../store/open-store";
import type { DatabaseAddress } from "../store/open-store";
import { SchemaGuard } from "./schema-guard";

/**
 * What every invocation passes before it asks the database: the schema fits, as read once per process and again after an
 * outage, and the database isn't known to be away.
 */
export class StoreEntrance {
  /** For the store as well: what one call finds out, all know. */
  readonly breaker: Breaker;
  readonly #guard = new SchemaGuard();
  readonly #check: () => Promise<void>;
  /** The first read, shared by all that come meanwhile. */
  #checking: Promise<void> | null = null;

  constructor(address: DatabaseAddress, logger: Logger) {
    const check = (): Promise<void> => checkStoreSchema(address);
    this.#check = () => this.#guard.pass({ check, clock: realClock, logger });
    this.breaker = new Breaker({
      clock: realClock,
      sleep,
      onNews: (news) => {
        if (news.kind === "away") {
          this.#guard.forget();
          logger.warn("the database is away; work is put back, one call at a time asks for it", {
            reason: news.reason,
          });
        } else {
          logger.info("the database is back", { afterMs: Math.round(news.afterMs) });
        }
      },
    });
  }

  /** Throws what keeps work out: StoreUnavailableError, SchemaError or StoreForbiddenError. */
  async pass(): Promise<void> {
    await this.breaker.enter(this.#check);
    if (this.#guard.fits) return;
    this.#checking ??= this.breaker.run(this.#check, "reads").finally(() => {
      this.#checking = null;
    });
    await this.#checking;
  }
}
