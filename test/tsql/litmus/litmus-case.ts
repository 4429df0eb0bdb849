import type { EngineName } from "../../tsql-server/engine/options";

/*
 * A litmus test: one rule of locking or of transactions, with the document that says so, as data. The same case is run
 * in the model on three engines and, over real connections, on a server: setup, then batches one after the other on two
 * or three connections, with what each must do. Accesses name their key or their index, so a server has no choice of plan.
 */

/** One after the other: each step ends, or waits, before the next one begins. */
export interface LitmusCase {
  readonly title: string;
  /** Of the table of lock rules (L1 ..), or a letter for other rules: E errors and transactions, P application locks, N names at CREATE, R rights, S sequences and identities. */
  readonly rules: readonly string[];
  /** The document or thread that gives the outcome. */
  readonly source: string;
  readonly setup: string;
  readonly steps: readonly Step[];
  /** All, where it isn't there. */
  readonly engines?: readonly EngineName[];
  /** A rule that wasn't seen on a server yet: here the model may be wrong. */
  readonly unverified?: string;
}

export type ConnectionName = "A" | "B" | "C";

/** One batch on one connection. */
export interface Step {
  readonly on: ConnectionName;
  readonly sql: string;
  readonly then: Outcome | ByEngine<Outcome>;
  /** Who waited before and is woken by this step, with how they end. Who isn't named still waits. */
  readonly wakes?: Wakes | ByEngine<Wakes>;
  /** Locks on keys that the connection then holds: `index mode` with their number. */
  readonly locks?: Locks | ByEngine<Locks>;
  /** Only on these engines: on the others the connection is waiting, or there is nothing to show. */
  readonly only?: readonly EngineName[];
}

/** waits: for a lock. deadlock: closes a circle, and one of those in it gets error 1205. */
export type Outcome = Ended | "waits" | "deadlock";

/** A batch that has ended. */
export interface Ended {
  /** Rows of the last row set; left out: any. */
  readonly rows?: readonly Row[];
  /** Numbers of its errors in order; left out: none. */
  readonly errors?: readonly number[];
}

/** Values of a row; bigint as a number. */
export type Row = readonly (string | number | null)[];
export type Wakes = Readonly<Partial<Record<ConnectionName, Ended>>>;
export type Locks = Readonly<Record<string, number>>;

/** Where the engines differ. */
export interface ByEngine<Value> {
  readonly byEngine: Readonly<Record<EngineName, Value>>;
}

/** Without versions; with versions, whether locking is optimised or not. */
export function byVersions<Locking, Versioned>(
  locking: Locking,
  versioned: Versioned,
): ByEngine<Locking | Versioned> {
  return { byEngine: { locking, versioned, azure: versioned } };
}

/** With locks that are kept; with optimised locking. */
export function byLocking<Classic, Azure>(
  classic: Classic,
  azure: Azure,
): ByEngine<Classic | Azure> {
  return { byEngine: { locking: classic, versioned: classic, azure } };
}

/** The value of one engine. */
export function onEngine<Value>(value: Value | ByEngine<Value>, engine: EngineName): Value {
  return isByEngine(value) ? value.byEngine[engine] : value;
}

function isByEngine<Value>(value: Value | ByEngine<Value>): value is ByEngine<Value> {
  return typeof value === "object" && value !== null && "byEngine" in value;
}

/** Ended without error, with any rows. */
export const done: Ended = {};

/** Ended without error, with these rows. */
export function rows(...values: Row[]): Ended {
  return { rows: values };
}

/** Ended with these errors, and any rows. */
export function fails(...errors: number[]): Ended {
  return { errors };
}

/** Several connections at the same time, each with its batches: every order of their steps, not one. */
export interface RaceCase {
  readonly title: string;
  readonly rules: readonly string[];
  readonly source: string;
  readonly setup: string;
  readonly callers: Readonly<Partial<Record<ConnectionName, readonly string[]>>>;
  /** All, where it isn't there. */
  readonly engines?: readonly EngineName[];
  /** Can a deadlock happen in some order? A server can't be forced to show it, only to repeat. */
  readonly deadlock: Possibility | ByEngine<Possibility>;
  /** Can a caller wait for a lock in some order? */
  readonly wait?: Possibility | ByEngine<Possibility>;
  /** Errors that a caller may get, besides 1205. */
  readonly errors?: readonly number[];
  /** A query for the end, and every answer that it may give in orders without a deadlock. */
  readonly end?: { readonly sql: string; readonly rows: Ends | ByEngine<Ends> };
  readonly unverified?: string;
  /** Each row is written before the next one is looked for: a plan without a spool. */
  readonly pipelinesWrites?: true;
}

export type Possibility = "never" | "possible";
export type Ends = readonly (readonly Row[])[];
