import type { Client } from "pg";
import type { Outcome, WriteEntry } from "./ledger";

interface EndedRow {
  readonly task: string;
  readonly at: string;
  readonly kind: string;
  readonly outcome: number;
  readonly tag: string | null;
}

const outcomes: Readonly<Record<number, Outcome>> = { 10: "done", 11: "dead", 12: "cancelled" };
/** A completion tells the instant before its commit: rows of so long ago may still come. */
const lateMs = 15_000;

/** Writes into the ledger which tasks the database has as finished, before their retention is over. */
export class EndedTasks {
  readonly #client: Client;
  readonly #write: WriteEntry;
  readonly #onDead: (task: string, kind: string) => void;
  /** Told, and of the last seconds. */
  #told = new Map<string, number>();
  /** Everything is read at the start: nothing is known of what the last leg has told. */
  #fromMs = 0;

  constructor(
    client: Client,
    { write, onDead }: { write: WriteEntry; onDead: (task: string, kind: string) => void },
  ) {
    this.#client = client;
    this.#write = write;
    this.#onDead = onDead;
  }

  /** Reads what has ended since. */
  async read(): Promise<void> {
    const readMs = Date.now() - lateMs;
    const { rows } = await this.#client.query<EndedRow>(
      `select a.task_id::text as task, floor(extract(epoch from a.finished_at) * 1000)::text as at, a.kind,
              a.outcome::int as outcome, coalesce(a.payload::json ->> 'scheduledFor', a.payload::json ->> 'tag') as tag
         from taskgate.task_definition d
         join taskgate.archived a on a.task_definition_id = d.task_definition_id
        where a.finished_at >= to_timestamp($1::float8 / 1000)`,
      [this.#fromMs],
    );
    for (const row of rows) this.#tell(row);
    this.#told = new Map([...this.#told].filter(([, atMs]) => atMs >= readMs));
    this.#fromMs = readMs;
    this.#write({ is: "read", atMs: readMs });
  }

  #tell({ task, at, kind, outcome, tag }: EndedRow): void {
    const atMs = Number(at);
    if (this.#told.get(task) === atMs) return;
    this.#told.set(task, atMs);
    const how = outcomes[outcome] ?? "cancelled";
    this.#write({ is: "ended", atMs, task, kind, outcome: how, tag });
    if (how === "dead") this.#onDead(task, kind);
  }
}
