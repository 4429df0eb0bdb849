import { Client } from "pg";

/** A connection of its own that counts what isn't done yet; it opens at the first call. */
export class Counting {
  readonly #url: string;
  readonly #text: string;
  #client: Client | null = null;

  constructor(url: string, text: string) {
    this.#url = url;
    this.#text = text;
  }

  async count(): Promise<number> {
    if (this.#client === null) {
      this.#client = new Client({ connectionString: this.#url });
      await this.#client.connect();
    }
    const { rows } = await this.#client.query<{ count: number }>(this.#text);
    return rows[0]?.count ?? 0;
  }

  async close(): Promise<void> {
    await this.#client?.end();
  }
}
