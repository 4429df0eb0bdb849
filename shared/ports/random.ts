/** Chance as a parameter, so that tests can repeat a run. */
export interface Random {
  /** A version 4 UUID. */
  uuid(): string;
  /** 0 <= x < 1 */
  fraction(): number;
}
