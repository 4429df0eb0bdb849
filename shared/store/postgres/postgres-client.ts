import type * as Pg from "pg";
import type { Client, ClientConfig } from "pg";
import type { PostgresTarget } from "./postgres-tls";
import { ownTypes } from "./postgres-types";

type Told = ((error: Error) => void) | ((error: null, client: Client) => void);

/** The clients of a pool: each reads its target anew, and none that could not begin leaves its connection open. */
export function poolClient(driver: typeof Pg, newestTarget: () => PostgresTarget): typeof Client {
  return class extends driver.Client {
    constructor(config?: ClientConfig) {
      super({ ...config, ...newestTarget(), types: ownTypes });
    }

    override connect(): Promise<Client>;
    override connect(told: Told): void;
    override connect(told?: Told): Promise<Client> | undefined {
      if (told === undefined) return super.connect();
      super.connect((error: Error | null, client?: Client) => {
        // Where the driver has no answer for the server, as without a password, it leaves the connection as it is. The server
        // would wait for a minute, and with it all that needs each of its processes, such as the removal of a database.
        if (error !== null) this.end().catch(() => undefined);
        (told as (error: Error | null, client?: Client) => void)(error, client);
      });
      return undefined;
    }
  };
}
