/*
 * Limits as values: null means no limit, which SQL writes as -1.
 */

/** No limit is null here, -1 in SQL; 0: nothing starts; else 1..1000. */
export type Limit = number | null;

/** A limit that the definition shares with others. */
export interface SharedLimitStatus {
  name: string;
  limit: Limit;
  limitSource: "code" | "operator";
  /** Tokens held by all definitions together. */
  held: number;
}

/** The same as a row says it. */
export type SharedLimitRow = SharedLimitStatus & { limit: number };

/** As SQL writes it. */
export function limitToSql(limit: Limit): number {
  return limit ?? -1;
}

/** From what SQL writes. */
export function limitOf(value: number): Limit {
  return value === -1 ? null : value;
}

/** The same of shared limits. */
export function sharedLimitsOf(rows: readonly SharedLimitRow[]): SharedLimitStatus[] {
  return rows.map((shared) => ({ ...shared, limit: limitOf(shared.limit) }));
}
