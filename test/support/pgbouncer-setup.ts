import { Pgbouncer, withoutNames } from "./pgbouncer";
import type { PgbouncerOptions } from "./pgbouncer";
import { postgresSetup } from "./postgres-setup";
import type { StoreSetup } from "./store-setup";

/** As postgresSetup; every call of the product goes through a PgBouncer that starts with the first test. */
export function pgbouncerSetup(options: PgbouncerOptions): StoreSetup {
  let started: Promise<Pgbouncer> | undefined;
  const reach = async (url: string): Promise<string> => {
    const through = (await (started ??= Pgbouncer.start(url, options))).through(url);
    return options.isPreparing === true ? through : withoutNames(through);
  };
  const setup = postgresSetup({ reach, reachPlain: reach });
  return {
    ...setup,
    close: async () => {
      await setup.close();
      await (await started)?.stop();
    },
  };
}
