import { Pool } from "pg";

/** The tables the tasks of the limit test write into; evidence from outside the code under test. */
export const overlapTables = `
  create table overlap (entry bigint generated always as identity primary key, process text not null, fence text not null,
                        begun_at timestamptz not null default clock_timestamp(), ended_at timestamptz,
                        admitted_ms double precision);
  create table heard (process text not null, sent_ms double precision not null, answered_ms double precision not null);
  create table effect (task_id bigint not null);
  create table granted (process text not null, tokens int not null);
  grant insert on effect to taskgate_worker;`;

/** Writes when a task begins and ends, in database time: begin after its start was granted, end before its completion. */
export class OverlapLog {
  readonly #pool: Pool;
  readonly #process: string;

  constructor(url: string, process: string) {
    this.#pool = new Pool({ connectionString: url, max: 4 });
    this.#pool.on("error", () => undefined);
    this.#process = process;
  }

  /**
   * Of a task, the number of the entry. Throws when its execution doesn't hold it any more: a process that was frozen between
   * its claim and this statement sends it when others hold the token, and then must not begin.
   */
  async beginTask(fence: string): Promise<string> {
    const result = await this.#pool.query<{ entry: string }>(
      `insert into overlap (process, fence)
       select $1, $2 where exists (
         select 1 from taskgate.task_execution e
          where e.state = 1 and e.lease_until >= clock_timestamp() and $3 = any (e.inflight_fence))
       returning entry`,
      [this.#process, fence, fence],
    );
    const entry = result.rows[0]?.entry;
    if (entry === undefined) throw new Error("the lease was lost before the task began");
    return entry;
  }

  /** Of what needs no task, the number of the entry. `admittedMs`: the process let it begin then. */
  async begin(fence: string, admittedMs: number): Promise<string> {
    const result = await this.#pool.query<{ entry: string }>(
      "insert into overlap (process, fence, admitted_ms) values ($1, $2, $3) returning entry",
      [this.#process, fence, admittedMs],
    );
    const entry = result.rows[0]?.entry;
    if (entry === undefined) throw new Error("the overlap log answered nothing");
    return entry;
  }

  async end(entry: string): Promise<void> {
    await this.#pool.query("update overlap set ended_at = clock_timestamp() where entry = $1", [
      entry,
    ]);
  }

  /** The process asked what others want, and was answered. The machine has one clock: the database's is the same. */
  async heard(sentMs: number, answeredMs: number): Promise<void> {
    await this.#pool.query(
      "insert into heard (process, sent_ms, answered_ms) values ($1, $2, $3)",
      [this.#process, sentMs, answeredMs],
    );
  }

  /** So many tokens were granted to one execution that has ended. */
  async granted(tokens: number): Promise<void> {
    await this.#pool.query("insert into granted (process, tokens) values ($1, $2)", [
      this.#process,
      tokens,
    ]);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
