import { messageOf } from "../../core/foreign-value";
import type * as Pg from "pg";
import type { Client, Notification, QueryResult, QueryResultRow } from "pg";
import { loadPackage } from "../../core/load-package";
import type { TaskListener, TaskListenerEvents } from "../../ports/task-listener";
import type { Timers } from "../../ports/timers";
import { inTurn } from "../in-turn";
import type { Statement } from "./postgres-transaction";
import { readPostgresTarget } from "./postgres-tls";
import {
  leavePlaceStatement,
  listenStatement,
  readNotification,
  takePlaceStatement,
  waitingKey,
} from "./postgres-waiting";
import { ownTypes } from "./postgres-types";

/** What a listener needs. */
export interface PostgresListenerOptions {
  readonly url: string;
  readonly schema: string;
  readonly connectTimeoutMs: number;
  readonly timers: Timers;
  readonly events: TaskListenerEvents;
}

/** Pauses before the tries to connect again; the last one stays. */
const pausesMs = [500, 1_000, 2_000, 5_000, 15_000, 30_000] as const;
const keepAliveMs = 15_000;

/** A definition that this process waits for. */
interface Wait {
  readonly definition: string;
  /** null: no place was free, or it isn't taken yet. */
  place: number | null;
}

/**
 * Notifications over a connection of their own, which is in no transaction. A connection that breaks is opened again;
 * the places of all waits are taken anew then. Behind a pooler that lends connections there are no notifications:
 * what is held would be another client's, so such a connection is left at once.
 */
export class PostgresListener implements TaskListener {
  readonly #options: PostgresListenerOptions;
  readonly #waits = new Map<string, Wait>();
  #client: Client | null = null;
  /** Places that the client hears of. */
  readonly #heard = new Set<number>();
  #cancelRetry: (() => void) | null = null;
  #tries = 0;
  #isClosed = false;

  /** Throws InvalidArgumentError for a bad address; connects behind. */
  constructor(options: PostgresListenerOptions) {
    this.#options = options;
    readPostgresTarget(options.url);
    void this.#connect();
  }

  get isListening(): boolean {
    return this.#client !== null;
  }

  async wait(definition: string): Promise<void> {
    const wait: Wait = this.#waits.get(definition) ?? { definition, place: null };
    this.#waits.set(definition, wait);
    if (wait.place === null) await this.#takePlace(wait);
  }

  stopWaiting(definition: string): void {
    const wait = this.#waits.get(definition);
    this.#waits.delete(definition);
    if (wait !== undefined) this.#leavePlace(wait);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelRetry?.();
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  async #takePlace(wait: Wait): Promise<void> {
    const client = this.#client;
    if (client === null) return;
    const waited = { schema: this.#options.schema, definition: wait.definition };
    try {
      const { rows } = await this.#ask<{ place: number }>(client, () =>
        takePlaceStatement(waited, this.#heard),
      );
      const place = rows[0]?.place ?? null;
      if (place !== null && !this.#heard.has(place))
        await this.#ask(client, () => listenStatement(place));
      if (this.#client !== client) return;
      if (place !== null) this.#heard.add(place);
      wait.place = place;
      // It has tasks by now.
      if (this.#waits.get(wait.definition) !== wait) this.#leavePlace(wait);
    } catch {
      // A broken connection tells of itself.
    }
  }

  #leavePlace(wait: Wait): void {
    const { place, definition } = wait;
    if (place === null) return;
    wait.place = null;
    const waited = { schema: this.#options.schema, definition };
    if (this.#client !== null)
      this.#ask(this.#client, () => leavePlaceStatement(waited, place)).catch(() => undefined);
  }

  /** Each is made when its turn comes. */
  #ask<Row extends QueryResultRow>(
    client: Client,
    make: () => Statement,
  ): Promise<QueryResult<Row>> {
    return inTurn(client, () => {
      const { text, values } = make();
      return client.query<Row>(text, values);
    });
  }

  /** Throws where a file of the address can't be read. */
  #openClient(): Client {
    const { url, connectTimeoutMs } = this.#options;
    const driver = loadPackage<typeof Pg>("pg");
    const client = new driver.Client({
      ...readPostgresTarget(url),
      types: ownTypes,
      connectionTimeoutMillis: connectTimeoutMs,
      application_name: "taskgate-listener",
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    });
    client.on("error", () => undefined);
    client.on("end", () => {
      this.#lose(client, "the connection ended");
    });
    client.on("notification", (notification) => {
      this.#hear(notification);
    });
    return client;
  }

  /** Never rejects: nobody waits for it. */
  async #connect(): Promise<void> {
    const { events } = this.#options;
    let client: Client | undefined;
    try {
      client = this.#openClient();
      await client.connect();
      if (!(await isDirect(client))) {
        this.#isClosed = true;
        await client.end().catch(() => undefined);
        events.onTrouble("a pooler stands between here and the server");
        return;
      }
      if (this.#isClosed) {
        await client.end();
        return;
      }
      this.#client = client;
      this.#heard.clear();
      this.#tries = 0;
      await Promise.all([...this.#waits.values()].map((wait) => this.#takePlace(wait)));
      events.onListening();
    } catch (error) {
      await client?.end().catch(() => undefined);
      this.#retry(messageOf(error));
    }
  }

  #lose(client: Client, reason: string): void {
    if (this.#client !== client) return;
    this.#client = null;
    for (const wait of this.#waits.values()) wait.place = null;
    this.#retry(reason);
  }

  #retry(reason: string): void {
    if (this.#isClosed) return;
    if (this.#tries === 0) this.#options.events.onTrouble(reason);
    const pauseMs = pausesMs[Math.min(this.#tries, pausesMs.length - 1)] ?? 0;
    this.#tries += 1;
    this.#cancelRetry = this.#options.timers.after(pauseMs, () => void this.#connect());
  }

  #hear({ payload = "" }: Notification): void {
    const news = readNotification(payload);
    if (news === null) return;
    const { schema, events } = this.#options;
    for (const { definition, place } of this.#waits.values()) {
      if (place !== news.place || waitingKey({ schema, definition }) !== news.key) continue;
      events.onNews(definition);
    }
  }
}

/** Of a pooler the driver is told another process than the one that answers. */
async function isDirect(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return "processID" in client && rows[0]?.pid === client.processID;
}
