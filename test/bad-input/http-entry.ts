import type { Field } from "./bad-values";

/** A route of the HTTP API. */
export interface HttpEntry {
  readonly params: readonly Field[];
  readonly query: readonly Field[];
  /** null: it takes no body. */
  readonly body: {
    readonly fields: readonly Field[];
    readonly good: unknown;
    readonly isOptional?: boolean;
  } | null;
}
