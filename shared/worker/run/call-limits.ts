import { callsPrefix } from "../../core/calls-definition";
import { hasMember } from "../../core/foreign-value";
import { checkNames } from "../../core/known-names";
import { limits } from "../../core/limits";
import { refusedField } from "../../core/refused-field";
import { checkInteger, checkKey } from "../../core/text";
import { wrongValue } from "../../core/wrong-value";
import type { Limit } from "../../ports/task-store";
import { defaultLeaseMs } from "../define/define-queue";
import type { SharedLimit } from "../define/define-queue";

/** A limit that tasks, functions and apps of one database share, as its author writes it. */
export interface CallLimit {
  /** 1..194 characters: the name of the shared limit. */
  readonly name: string;
  /**
   * Bodies and tasks that may run at once, over all instances: 1..1000, 0 nothing starts, null no limit. Left out: another
   * place says the number; until one does it is 1.
   */
  readonly limit?: Limit;
  /**
   * Bodies that may begin per period, over all instances: `count` 1..1,000,000 per `periodMs` 1,000..86,400,000, `burst` at once
   * after a pause, default what refills in 100 ms. Each call then asks the database: a token of the process isn't used again.
   */
  readonly rate?: { count: number; periodMs: number; burst?: number };
  /** The time for which a dead process keeps its tokens; 1,000..86,400,000 ms, default 60,000. */
  readonly leaseMs?: number;
}

/** What a call draws from: one limit, or a list of up to 8, each of which gives its tokens in the same decision. */
export type CallLimits = CallLimit | readonly CallLimit[];

/**
 * The limits of a call, in the order of their names. Throws InvalidArgumentError for a value that is no limit, for more than 8, for
 * a name that comes twice, and for a rate among several.
 */
export function listLimits(given: CallLimits): readonly CallLimit[] {
  if (!isList(given)) {
    checkLimit("limit", given);
    return [given];
  }
  if (given.length < 1 || given.length > limits.sharedLimitsMax)
    throw refusedField(
      "limits",
      `1..${String(limits.sharedLimitsMax)} limits (${String(given.length)})`,
    );
  for (const [index, limit] of given.entries()) checkLimit(`limits[${String(index)}]`, limit);
  const sorted = [...given].sort(byName);
  for (const [index, { name, rate }] of sorted.entries()) {
    if (name === sorted[index + 1]?.name)
      throw refusedField("limits", `each limit once (${name} comes twice)`);
    if (rate !== undefined && sorted.length > 1)
      throw refusedField(
        "rate",
        `no rate among several limits (${name} has one): its starts are counted for calls of that limit alone`,
      );
  }
  return sorted;
}

/** Names for people: `a`, or `a & b`. */
export function labelOf(given: CallLimits): string {
  return isList(given) ? given.map(({ name }) => name).join(" & ") : given.name;
}

/** Does a call of these limits count as a start of a rate? */
export function hasRate(given: CallLimits): boolean {
  return isList(given) ? given.some(({ rate }) => rate !== undefined) : given.rate !== undefined;
}

/** One lease holds the tokens of all: the shortest one counts. undefined: none of them says one. */
export function leaseOf(given: readonly CallLimit[]): number | undefined {
  if (given.every(({ leaseMs }) => leaseMs === undefined)) return undefined;
  return Math.min(...given.map(({ leaseMs = defaultLeaseMs }) => leaseMs));
}

/** What the definition of a kind or of calls draws from: without a number another place says it. */
export function toShared({ name, limit }: CallLimit): SharedLimit {
  return limit === undefined ? { name } : { name, limit };
}

function isList(given: CallLimits): given is readonly CallLimit[] {
  return Array.isArray(given);
}

/** Limits that were looked at: an app uses the same few for each of its calls. */
const checked = new WeakSet<CallLimit>();

/** The definition of the limit's calls has the name behind its prefix. */
const nameLengthMax = limits.nameLengthMax - callsPrefix.length;

/** Without TypeScript a name is the nearest mistake. */
function checkLimit(field: string, given: CallLimit): void {
  if (checked.has(given)) return;
  if (!hasMember(given, "name"))
    throw wrongValue(field, "{ name, limit }, as defineLimit returns it", given);
  checkNames(field, given, ["name", "limit", "rate", "leaseMs"]);
  checkKey(`${field}.name`, given.name);
  if (given.name.length > nameLengthMax)
    throw wrongValue(`${field}.name`, `1..${String(nameLengthMax)} characters`, given.name);
  if (given.limit !== undefined && given.limit !== null)
    checkInteger(`${field}.limit`, given.limit, { min: 0, max: limits.tokensMax });
  checked.add(given);
}

/** By UTF-16 units: the same in every process. */
function byName(one: CallLimit, other: CallLimit): number {
  if (one.name === other.name) return 0;
  return one.name < other.name ? -1 : 1;
}
