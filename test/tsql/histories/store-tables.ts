/**
 * The rows of a store, tables and columns in camelCase, values as the driver gives them. Claims are a table of their own
 * everywhere: T-SQL has one, PostgreSQL keeps them as arrays of an execution.
 */
export type StoreTables = Readonly<Record<string, readonly StoreRow[]>>;
export type StoreRow = Readonly<Record<string, unknown>>;
