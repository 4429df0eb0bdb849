import type { ShippedFile } from "../shipped/shipped-world";
import type { EngineName, EngineOptions } from "../../tsql-server/engine/options";
import type { SqlValue } from "../../tsql-server/values";
import type { Call } from "./calls";
import { leaseMs, namesOf } from "./calls";

/*
 * A case: callers that meet, as data. Every interleaving of their steps is run; each promise that SQL can decide is
 * checked in each of them (promises.ts), and no caller may wait where the case doesn't say so.
 */

export interface ModelCase {
  /** For --case; words joined by hyphens. */
  readonly name: string;
  /** What meets, and what must come of it. */
  readonly about: string;
  /** One after the other, before the callers begin. */
  readonly setup: readonly SetupStep[];
  readonly callers: readonly Caller[];
  /** Waits that sql-core.md 6 permits here, on every engine. */
  readonly waits?: readonly PermittedWait[];
  /** With row versions off plain reads wait for writers here, and writers for plain reads. */
  readonly readersWait?: true;
  /** With row versions off such waits may close a circle; it ends with the death of one of these callers, by place. */
  readonly victims?: readonly number[];
  /** Errors that a caller may get: numbers. */
  readonly errors?: readonly number[];
  /** A wait may also end by LOCK_TIMEOUT, at any moment. */
  readonly mayTimeOut?: true;
  /** Callers whose connection may be cut at any moment. */
  readonly cut?: readonly number[];
  /**
   * Callers, by place, that step over rows that others hold and are asked again and again, as hosts and clients do. On another plan
   * they may step over more rows; so there each comes once more, behind all others, before the end is judged.
   */
  readonly comesAgain?: readonly number[];
  /** What must hold at the end besides the promises; answers what doesn't. */
  readonly ends?: (end: Ending) => string | undefined;
  /** Only in long runs, on these engines or on all: too many interleavings for every run of the tests. */
  readonly isLong?: true | readonly EngineName[];
}

export type SetupStep = Call | Later;

/** The clock is moved on. */
export interface Later {
  readonly kind: "later";
  readonly ms: number;
}

export function later(ms: number): Later {
  return { kind: "later", ms };
}

/** All leases given so far are over. */
export const leaseOver = later(leaseMs + 1);

/** One after the other on one connection; a call may depend on what the caller was answered before. */
export type Caller = readonly CallerStep[];
export type CallerStep =
  | Call
  | { readonly kind: "dependent"; readonly names: readonly string[]; readonly make: MakeCall };
export type MakeCall = (answers: readonly CaseAnswer[]) => Call;

/** A wait for a lock on a table's keys that is permitted, and why. */
export interface PermittedWait {
  /** Without its schema. */
  readonly table: string;
  readonly why: string;
  /** Only this caller may wait, by place; else any. */
  readonly by?: number;
}

/** What a call gave: the only row of a procedure, or the rows of a batch; or an error. */
export interface CaseAnswer {
  readonly call: Call;
  readonly rows: readonly AnswerRow[];
  /** Numbers of its errors. */
  readonly errors: readonly number[];
}

/** By column; 64-bit numbers are numbers here, as cases count from 1. */
export type AnswerRow = Readonly<Record<string, SqlValue>>;

/** The end of a run: every caller is through. */
export interface Ending {
  /** By caller, then by call. */
  readonly answers: readonly (readonly CaseAnswer[])[];
  readonly engine: EngineName;
  /** The committed rows of a table, by column. */
  rows(table: string): readonly AnswerRow[];
}

/** Every procedure that the callers name. */
export function proceduresOf(model: ModelCase): readonly string[] {
  const known = procedures.get(model) ?? listProcedures(model);
  procedures.set(model, known);
  return known;
}

/** Checks ask after every step. */
const procedures = new WeakMap<ModelCase, readonly string[]>();

function listProcedures(model: ModelCase): string[] {
  const names = model.callers
    .flat()
    .flatMap((step) => (step.kind === "dependent" ? step.names : namesOf(step)));
  return [...new Set(names)].sort();
}

/** How a case is run. */
export interface CaseOptions {
  readonly engine: EngineName;
  readonly options: EngineOptions;
  /** Waits are judged: not where the model is made to behave as no document says. */
  readonly checksWaits: boolean;
  /** Callers may wait for each other in a circle, and one of them dies of it. */
  readonly hasCircles?: true;
  /** Changes a shipped file on its way: a planted bug. */
  readonly edit?: (file: ShippedFile) => string;
}
