import { limits } from "../../shared/core/limits";
import type { Book, Flight } from "./book";
import type { FedOperation } from "./feeder";
import type { Halt } from "./hosts";
import { firstPriority, newKind, sideName } from "./plan";
import type { Verdict } from "./verdict";

/** No execution is called late that isn't by so much: machines have other things to do. */
const lateMaxMs = 30_000;
/** What a dead host had begun runs again within its lease and this. */
const returnMostMs = 120_000;
/** A build that doesn't know a kind puts its task off for at most this time. */
const putOffMostMs = limits.returnPauseMs.cap;
/** An asker is granted a token within this time, or doesn't ask often. */
const deniedMostMs = 240_000;

/** One holder: of a task one completion counts, and none that was sent after the task began under a newer claim. */
export function judgeAcks(book: Book, verdict: Verdict): void {
  const newest = new Map<string, bigint>();
  const moments = book.flights.flatMap((flight) => [
    { flight, atMs: flight.beginMs, isBegin: true },
    { flight, atMs: flight.settlingMs ?? Number.POSITIVE_INFINITY, isBegin: false },
  ]);
  moments.sort((a, b) => a.atMs - b.atMs);
  for (const { flight, isBegin } of moments) {
    const { task, fence } = flight;
    const known = newest.get(task) ?? 0n;
    if (isBegin) newest.set(task, known > BigInt(fence) ? known : BigInt(fence));
    else if (known > BigInt(fence) && book.acks.get(task)?.has(fence) === true)
      verdict.broken(
        "one holder",
        `task ${task}: fence ${fence} completed it when ${String(known)} had begun`,
      );
  }
  for (const [task, fences] of book.acks) {
    if (fences.size > 1)
      verdict.broken(
        "one holder",
        `task ${task}: completions of fences ${[...fences].join(", ")} count`,
      );
  }
}

/** Order: each claim is in order; and in a strict group no task begins before the task ahead of it has ended. */
export function judgeOrder(
  book: Book,
  operations: readonly FedOperation[],
  verdict: Verdict,
): void {
  for (const { fence, tasks, orders } of book.claims) {
    verdict.check("order");
    const priorities = orders.split(",").map(Number);
    const isSorted = tasks.every((task, index) => {
      if (index === 0) return true;
      const [before = 0, own = 0] = [priorities[index - 1], priorities[index]];
      return before < own || (before === own && BigInt(tasks[index - 1] ?? 0) < BigInt(task));
    });
    if (!isSorted) verdict.broken("order", `claim of fence ${fence}: ${tasks.join()} by ${orders}`);
  }
  judgeStrict(book, operations, verdict);
}

interface Standing {
  readonly task: bigint;
  readonly sentMs: number;
  readonly answeredMs: number;
  firstMs: number;
  lastMs: number;
}

function judgeStrict(book: Book, operations: readonly FedOperation[], verdict: Verdict): void {
  const begins = strictBegins(book);
  const groups = new Map<string, Standing[]>();
  for (const operation of operations) {
    if (operation.definition !== sideName || operation.answeredMs === null) continue;
    for (const [index, { group }] of operation.payloads.entries()) {
      const task = operation.taskIds[index] ?? "";
      const begun = begins.get(task);
      // A key of another task: that one has its own place.
      if (group === null || begun === undefined || operation.tasks[index]?.dedupeKey !== undefined)
        continue;
      const standing = {
        task: BigInt(task),
        sentMs: operation.firstSentMs,
        answeredMs: operation.answeredMs,
        ...begun,
      };
      groups.set(group, [...(groups.get(group) ?? []), standing]);
    }
  }
  for (const [group, standings] of groups) judgeGroup(group, standings, verdict);
}

/** First and last begin of each task of strict groups, under a lease that surely held. */
function strictBegins(book: Book): Map<string, { firstMs: number; lastMs: number }> {
  const begins = new Map<string, { firstMs: number; lastMs: number }>();
  for (const flight of book.flights) {
    const { task, beginMs } = flight;
    const isCounted = flight.definition === sideName && flight.group !== null;
    if (!isCounted || !book.isCovered(flight, beginMs)) continue;
    const known = begins.get(task) ?? { firstMs: beginMs, lastMs: beginMs };
    known.lastMs = beginMs;
    begins.set(task, known);
  }
  return begins;
}

function judgeGroup(group: string, standings: Standing[], verdict: Verdict): void {
  standings.sort((a, b) => (a.task < b.task ? -1 : 1));
  for (const [index, later] of standings.entries()) {
    verdict.check("order");
    // Each is compared with some before it: orders are chains.
    for (const earlier of standings.slice(Math.max(0, index - 5), index)) {
      if (earlier.answeredMs < later.sentMs && earlier.lastMs > later.firstMs)
        verdict.broken(
          "order",
          `strict group ${group}: task ${String(earlier.task)} began after task ${String(later.task)}`,
        );
    }
  }
}

/** Stale work returns: tasks of killed hosts begin again elsewhere. Figures of how soon. */
export function judgeReturns(book: Book, halts: readonly Halt[], verdict: Verdict): void {
  const killed = new Map(
    halts.filter(({ kind }) => kind === "killed").map(({ host, fromMs }) => [host, fromMs]),
  );
  const byTask = new Map<string, Flight[]>();
  for (const flight of book.flights)
    byTask.set(flight.task, [...(byTask.get(flight.task) ?? []), flight]);
  const waits: number[] = [];
  const putOff: number[] = [];
  for (const flight of book.flights) {
    const diedMs = killed.get(flight.host);
    if (diedMs === undefined || flight.settlingMs !== null || flight.beginMs > diedMs) continue;
    const next = (byTask.get(flight.task) ?? []).find((other) => other.beginMs > diedMs);
    verdict.check("stale work returns");
    // Where it ended meanwhile under another claim, or never came again, others find out.
    if (next === undefined) continue;
    const waitMs = next.beginMs - diedMs;
    (flight.kind === newKind ? putOff : waits).push(waitMs);
    // Others wait behind those that came before them, for as long as there are any.
    const maxMs = returnMostMs + (flight.kind === newKind ? putOffMostMs : 0);
    if (flight.priority === firstPriority && waitMs > maxMs)
      verdict.broken(
        "stale work returns",
        `task ${flight.task} of ${flight.host} came back after ${waitMs.toFixed(0)} ms`,
      );
  }
  waits.sort((a, b) => a - b);
  const [middle = 0, max = 0] = [waits[waits.length >> 1], waits.at(-1)];
  const ofNewKind = seconds(Math.max(0, ...putOff));
  verdict.figure(
    "stale work returns",
    `back after ${seconds(middle)} (median), ${seconds(max)} (most); of a kind that old builds put off ${ofNewKind} (most)`,
  );
}

/** In time: late are executions that neither a freeze nor a call without an answer explains. */
export function judgeStays(book: Book, halts: readonly Halt[], verdict: Verdict): void {
  let maxMs = 0;
  for (const { host, atMs, deadlineMs, longestCallMs } of book.executions) {
    const frozenMs = halts
      .filter((halt) => halt.host === host && halt.kind === "frozen" && halt.fromMs < atMs)
      .reduce((sum, halt) => sum + Math.min(halt.untilMs, atMs) - halt.fromMs, 0);
    const lateMs = atMs - deadlineMs - longestCallMs - frozenMs;
    verdict.check("in time");
    maxMs = Math.max(maxMs, lateMs);
    if (lateMs > lateMaxMs)
      verdict.broken(
        "in time",
        `${host}: ${lateMs.toFixed(0)} ms past the deadline at ${atMs.toFixed(0)}`,
      );
  }
  verdict.figure(
    "in time",
    `at most ${seconds(maxMs)} late beside freezes and calls without an answer`,
  );
}

/** First come, first served: how long an asker was denied while others were granted tokens. */
export function judgeAsking(book: Book, verdict: Verdict): void {
  let maxMs = 0;
  const since = new Map<string, { fromMs: number; asks: number }>();
  for (const { host, definition, status, atMs } of [...book.asked].sort(
    (a, b) => a.atMs - b.atMs,
  )) {
    if (status !== "limited" && status !== "started") continue;
    verdict.check("first come, first served");
    const key = `${host} ${definition}`;
    const denied = since.get(key) ?? { fromMs: atMs, asks: 0 };
    if (status === "started") since.delete(key);
    else since.set(key, { ...denied, asks: denied.asks + 1 });
    if (denied.asks > 0 && status === "started") maxMs = Math.max(maxMs, atMs - denied.fromMs);
    if (denied.asks >= 50 && atMs - denied.fromMs > deniedMostMs)
      verdict.broken(
        "first come, first served",
        `${key}: denied for ${seconds(atMs - denied.fromMs)}, asked ${String(denied.asks)} times`,
      );
  }
  verdict.figure("first come, first served", `granted after at most ${seconds(maxMs)} of denials`);
}

/** Clock: the work of hosts with a wrong clock; and the stated remainder of the limit. */
export function judgeClocks(book: Book, verdict: Verdict): void {
  const wrong = new Set(
    [...book.born.values()].filter(({ skewMs }) => skewMs !== 0).map(({ host }) => host),
  );
  const begun = book.flights.filter(({ host }) => wrong.has(host)).length;
  verdict.check("clock", begun);
  verdict.figure("clock", `${String(wrong.size)} hosts up to 2 h off began ${String(begun)} tasks`);
  const past = book.flights.filter(
    (flight) => (flight.endMs ?? 0) > book.coveredUntil(flight),
  ).length;
  verdict.figure(
    "limit",
    `${String(book.flights.length)} begins; ${String(past)} ended past what their lease surely was (the remainder)`,
  );
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
