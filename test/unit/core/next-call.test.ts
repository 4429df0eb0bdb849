import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { idleLookMs, mayStart, nextStep } from "../../../shared/core/next-call";
import type {
  ClaimFacts,
  ExecutionFacts,
  LoopEnd,
  NextStep,
  TaskFacts,
  TokenFacts,
} from "../../../shared/core/next-call";
import { limits } from "../../../shared/core/limits";

/*
 * Goal: each rule of what an execution does next holds by itself, and together they leave no state without a next step.
 * Method: a table with one sentence per rule, and properties over generated states.
 */

interface Change extends Partial<Omit<ExecutionFacts, "tokens" | "tasks" | "claims">> {
  readonly tokens?: Partial<TokenFacts>;
  readonly tasks?: Partial<TaskFacts>;
  readonly claims?: Partial<ClaimFacts>;
}

/** Two tokens, both idle; nothing claimed; time for everything. */
function factsWith({ tokens, tasks, claims, ...rest }: Change = {}): ExecutionFacts {
  return {
    nowMs: 10_000,
    end: null,
    stopAtMs: 100_000,
    handlersUntilMs: null,
    isLeaseTrusted: true,
    mayClaim: true,
    tokensWanted: 2,
    prefetchMax: 1,
    pace: { taskMs: null, callMs: null },
    ...rest,
    tokens: {
      count: 2,
      wantedBack: 0,
      freeTokens: 0,
      isReleasing: false,
      nextRequestMs: 10_500,
      ...tokens,
    },
    tasks: { running: 0, stuck: 0, claimed: 0, done: 0, failed: 0, ...tasks },
    claims: {
      hasBacklog: false,
      hasArrivals: false,
      idleUntilMs: Number.NEGATIVE_INFINITY,
      permitAtMs: null,
      isRated: false,
      isPaused: false,
      mayBeResumed: false,
      ...claims,
    },
  };
}

const work = (claim: number): NextStep => ({ kind: "call", call: { kind: "work", claim } });
const acquire = (upTo: number): NextStep => ({ kind: "call", call: { kind: "acquire", upTo } });
const fail: NextStep = { kind: "call", call: { kind: "fail" } };
const release: NextStep = { kind: "call", call: { kind: "release" } };
const wait = (forMs: number): NextStep => ({ kind: "wait", forMs });
const finish = (end: LoopEnd): NextStep => ({ kind: "finish", end });

/** More could be claimed, and more tokens are wanted. */
const hungry: Change = { tokensWanted: 4, claims: { hasBacklog: true } };

/** Tasks have come that no other session is told of. */
const arrival: Change = { tokensWanted: 8, claims: { hasArrivals: true } };

const steps: readonly (readonly [string, Change, NextStep])[] = [
  ["An idle execution claims for its tokens and the prefetch", {}, work(4)],
  ["A claim takes no prefetch where none is allowed", { prefetchMax: 0 }, work(2)],
  ["A claim takes no prefetch where a rate counts starts", { claims: { isRated: true } }, work(2)],
  [
    "A claim takes no prefetch while tasks last much longer than calls",
    { pace: { taskMs: 501, callMs: 10 } },
    work(2),
  ],
  [
    "A claim takes one prefetched task per token where it starts within a tenth of a second",
    { tokens: { count: 8 }, tokensWanted: 8, pace: { taskMs: 20, callMs: 1 } },
    work(16),
  ],
  [
    "A claim takes fewer prefetched tasks where they would start later",
    { tokens: { count: 8 }, tokensWanted: 8, pace: { taskMs: 400, callMs: 10 } },
    work(10),
  ],
  [
    "A claim counts tasks that run or are claimed already",
    { tasks: { running: 1, done: 1, claimed: 1 } },
    work(2),
  ],
  [
    "A claim takes no more than can start before the end",
    { nowMs: 98_000, pace: { taskMs: 1_500, callMs: 1_000 }, prefetchMax: 5 },
    work(2),
  ],
  [
    "A claim never exceeds the bound of one call",
    { tokens: { count: 900 }, tokensWanted: 900 },
    work(limits.claimMax),
  ],
  [
    "Done tasks are reported although every token is busy",
    { tasks: { running: 2, claimed: 2, done: 3 } },
    work(0),
  ],
  [
    "Nothing is claimed while the definition is paused, and ended tasks are reported",
    { claims: { isPaused: true, hasBacklog: true }, tasks: { running: 1, done: 1 } },
    work(0),
  ],
  [
    "One task is claimed once something has arrived, also beside claimed tasks: the answer tells whether the pause goes on",
    { claims: { isPaused: true, mayBeResumed: true }, tasks: { running: 1, claimed: 2 } },
    work(1),
  ],
  [
    "No token is asked for while the definition is paused",
    { ...hungry, claims: { isPaused: true, hasBacklog: true }, tasks: { running: 2 } },
    wait(idleLookMs),
  ],
  [
    "An execution waits for its handlers while the definition is paused, as it may be resumed",
    { claims: { isPaused: true }, tasks: { running: 1, claimed: 2 } },
    wait(idleLookMs),
  ],
  [
    "Once nothing runs any more a pause ends the execution, and its claims go back",
    { claims: { isPaused: true }, tasks: { claimed: 2 } },
    finish("paused"),
  ],
  ["Failures are reported before completions", { tasks: { failed: 1, done: 5 } }, fail],
  [
    "Failures are reported while the execution ends",
    { end: "stopped", tasks: { failed: 1, running: 1 } },
    fail,
  ],
  [
    "An idle token goes back when a release is requested",
    { tokens: { wantedBack: 1 }, tasks: { running: 1 } },
    release,
  ],
  [
    "Completions are reported before a token goes back, without a claim",
    { tokens: { wantedBack: 1 }, tasks: { running: 1, done: 1 } },
    work(0),
  ],
  [
    "A busy token stays although a release is requested",
    { tokens: { wantedBack: 1 }, tasks: { running: 2 } },
    wait(idleLookMs),
  ],
  [
    "Tokens are requested when the backlog is larger than a claim and the pause is over",
    { ...hungry, tokens: { nextRequestMs: 10_000 } },
    acquire(4),
  ],
  ["Tokens are not requested before their pause is over", hungry, work(4)],
  [
    "Tokens are not requested without a backlog",
    { tokensWanted: 4, tokens: { nextRequestMs: 0 } },
    work(4),
  ],
  [
    "Tokens are not requested once the wanted number is held",
    { claims: { hasBacklog: true }, tokens: { nextRequestMs: 0 } },
    work(4),
  ],
  [
    "One more token is requested for tasks that arrive while every token is busy",
    { ...arrival, tokens: { nextRequestMs: 0 }, tasks: { running: 1, claimed: 1 } },
    acquire(3),
  ],
  [
    "No token is requested for tasks that arrive while one is idle",
    { ...arrival, tokens: { nextRequestMs: 0 }, tasks: { running: 1 } },
    work(3),
  ],
  [
    "Completions are reported before tokens are requested that may not be free",
    { ...hungry, tokens: { nextRequestMs: 0 }, tasks: { running: 1, done: 1 } },
    work(3),
  ],
  [
    "A token known to be free is requested before completions are reported",
    { ...hungry, tokens: { nextRequestMs: 0, freeTokens: 1 }, tasks: { running: 1, done: 1 } },
    acquire(4),
  ],
  [
    "A claim waits until claimed tasks have started",
    { tasks: { running: 1, claimed: 1 } },
    wait(idleLookMs),
  ],
  ["A claim waits until a token is idle", { tasks: { running: 2 } }, wait(idleLookMs)],
  [
    "A claim waits for the pause after an empty answer",
    { claims: { idleUntilMs: 10_040 } },
    wait(40),
  ],
  [
    "A wait for tokens ends at their next request",
    { ...hungry, tasks: { running: 2 }, tokens: { nextRequestMs: 10_120 } },
    wait(120),
  ],
  ["A claim waits while a suspect of another execution runs alone", { mayClaim: false }, wait(1)],
  [
    "A claim waits for a rate that lets the next task start soon",
    { claims: { isRated: true, permitAtMs: 11_000, idleUntilMs: 11_000 } },
    wait(1_000),
  ],
  [
    "An execution ends when the rate lets nothing start for longer than it waits",
    { claims: { isRated: true, permitAtMs: 11_001, idleUntilMs: 11_001 } },
    finish("rate"),
  ],
  [
    "A far permit ends nothing while a handler runs",
    { claims: { isRated: true, permitAtMs: 19_000, idleUntilMs: 19_000 }, tasks: { running: 1 } },
    wait(9_000),
  ],
  [
    "An execution ends when no task could end in time, and its claims go back",
    { pace: { taskMs: 90_000, callMs: 1 }, tasks: { claimed: 2 } },
    finish("deadline"),
  ],
  [
    "An execution without time for another task waits for those that run, and claims nothing",
    { pace: { taskMs: 90_000, callMs: 1 }, tasks: { running: 1 } },
    wait(idleLookMs),
  ],
  [
    "An execution without time for another task reports what is done first",
    { pace: { taskMs: 90_000, callMs: 1 }, tasks: { done: 1 } },
    work(0),
  ],
  ["An execution that is to end finishes when it is empty", { end: "idle" }, finish("idle")],
  [
    "An execution that is to end reports completions without a claim",
    { end: "deadline", tasks: { done: 2 } },
    work(0),
  ],
  [
    "An execution that is to end waits for its handlers",
    { end: "deadline", tasks: { running: 1 } },
    wait(idleLookMs),
  ],
  [
    "Handlers that ignore their signal are waited for until the grace is over",
    { end: "deadline", tasks: { running: 1 }, handlersUntilMs: 10_001 },
    wait(idleLookMs),
  ],
  [
    "Handlers that ignore their signal are left behind after the grace",
    { end: "deadline", tasks: { running: 1 }, handlersUntilMs: 10_000 },
    finish("deadline"),
  ],
  [
    "A stuck handler is not waited for",
    { end: "stuck", tasks: { running: 1, stuck: 1 } },
    finish("stuck"),
  ],
  [
    "The neighbours of a stuck handler are waited for",
    { end: "stuck", tasks: { running: 2, stuck: 1 } },
    wait(idleLookMs),
  ],
  [
    "A lost execution reports nothing",
    { end: "lost", tasks: { done: 1, failed: 1 } },
    finish("lost"),
  ],
  [
    "A failed execution reports nothing, and waits for its handlers",
    { end: "failed", tasks: { running: 1, done: 1, failed: 1 }, tokens: { wantedBack: 1 } },
    wait(idleLookMs),
  ],
];

const claimed: Change = { tasks: { claimed: 1, running: 1 } };
const starts: readonly (readonly [string, Change, boolean])[] = [
  ["A claimed task starts on an idle token", claimed, true],
  [
    "Nothing starts while the definition is paused",
    { ...claimed, claims: { isPaused: true } },
    false,
  ],
  ["Nothing starts that isn't claimed", { tasks: { claimed: 0 } }, false],
  ["Nothing starts beyond the tokens", { tasks: { claimed: 1, running: 2 } }, false],
  [
    "The last idle token stays idle while a release is requested",
    { ...claimed, tokens: { wantedBack: 1 } },
    false,
  ],
  [
    "A second idle token is used while a release is requested",
    { tasks: { claimed: 1 }, tokens: { wantedBack: 1 } },
    true,
  ],
  [
    "Nothing starts while all tokens are to go back",
    { tasks: { claimed: 1 }, tokens: { wantedBack: 3 } },
    false,
  ],
  [
    "Nothing starts while tokens are on their way back",
    { ...claimed, tokens: { isReleasing: true } },
    false,
  ],
  ["Nothing starts without trust in the lease", { ...claimed, isLeaseTrusted: false }, false],
  ["Nothing starts while the execution ends", { ...claimed, end: "stopped" }, false],
  ["Nothing starts at the end of the time", { ...claimed, nowMs: 100_000 }, false],
  [
    "Nothing starts that would last longer than the time that is left",
    { ...claimed, pace: { taskMs: 90_000, callMs: 1 } },
    false,
  ],
  [
    "A task starts that is expected to end in time",
    { ...claimed, pace: { taskMs: 89_999, callMs: 1 } },
    true,
  ],
];

describe("the next step of an execution", () => {
  test.each(steps)("%s.", (_, change, expected) => {
    expect(nextStep(factsWith(change))).toEqual(expected);
  });
});

describe("the start of a claimed task", () => {
  test.each(starts)("%s.", (_, change, expected) => {
    expect(mayStart(factsWith(change))).toBe(expected);
  });
});

const ends: readonly LoopEnd[] = [
  ...(["idle", "deadline", "stopped", "paused", "rate", "lost", "failed", "stuck"] as const),
];
const nowMs = 1_000_000;
const nearMs = fc.integer({ min: nowMs - 5_000, max: nowMs + 5_000 });
const count = fc.nat({ max: 4 });
const duration = fc.option(fc.double({ min: 0, max: 20_000, noNaN: true }));

/** Any state that a loop can be in: no more handlers than tokens, no more stuck ones than run. */
const anyFacts: fc.Arbitrary<ExecutionFacts> = fc
  .record({
    end: fc.option(fc.constantFrom(...ends)),
    stopAtMs: nearMs,
    handlersUntilMs: fc.option(nearMs),
    isLeaseTrusted: fc.boolean(),
    mayClaim: fc.boolean(),
    tokensWanted: fc.integer({ min: 1, max: 1_000 }),
    prefetchMax: fc.integer({ min: 0, max: 5 }),
    pace: fc.record({ taskMs: duration, callMs: duration }),
    tokens: fc.record({
      count: fc.oneof(count, fc.nat({ max: 1_000 })),
      wantedBack: fc.nat({ max: 2 }),
      freeTokens: fc.nat({ max: 2 }),
      isReleasing: fc.boolean(),
      nextRequestMs: nearMs,
    }),
    tasks: fc.record({ running: count, stuck: count, claimed: count, done: count, failed: count }),
    claims: fc.record({
      hasBacklog: fc.boolean(),
      hasArrivals: fc.boolean(),
      idleUntilMs: fc.oneof(nearMs, fc.constant(Number.NEGATIVE_INFINITY)),
      permitAtMs: fc.option(nearMs),
      isRated: fc.boolean(),
      isPaused: fc.boolean(),
      mayBeResumed: fc.boolean(),
    }),
  })
  .map(({ tasks, ...facts }) => {
    const running = Math.min(tasks.running, facts.tokens.count);
    return { ...facts, nowMs, tasks: { ...tasks, running, stuck: Math.min(tasks.stuck, running) } };
  });

/** Checks `check` for the states in which the next step is a call, a wait or the end. */
function holdsAlways(check: (facts: ExecutionFacts, step: NextStep) => void): void {
  fc.assert(
    fc.property(anyFacts, (facts) => {
      check(facts, nextStep(facts));
    }),
    { numRuns: 5_000 },
  );
}

describe("in every state of an execution", () => {
  test("a wait is above 0 ms and finite, so that no state is without a next step", () => {
    holdsAlways((_, step) => {
      if (step.kind !== "wait") return;
      expect(step.forMs).toBeGreaterThan(0);
      expect(step.forMs).toBeLessThanOrEqual(5_000);
    });
  });

  test("a request for tokens stays within the wanted number, and comes only where none are to go back", () => {
    holdsAlways((facts, step) => {
      if (step.kind !== "call" || step.call.kind !== "acquire") return;
      const { claims, tokens, tokensWanted } = facts;
      expect(step.call.upTo).toBe(claims.hasBacklog ? tokensWanted : tokens.count + 1);
      expect(facts.tokens.count).toBeLessThan(facts.tokensWanted);
      expect(facts.tokens.wantedBack).toBe(0);
      expect(facts.end).toBeNull();
    });
  });

  test("a claim comes only where a claimed task may start, now or on the next idle token", () => {
    holdsAlways((facts, step) => {
      if (step.kind !== "call" || step.call.kind !== "work" || step.call.claim === 0) return;
      expect(step.call.claim).toBeLessThanOrEqual(limits.claimMax);
      expect(facts.mayClaim).toBe(true);
      expect((facts.claims.permitAtMs ?? nowMs) <= nowMs).toBe(true);
      // The call renews the lease, and nothing is released during it. In a pause it asks whether that goes on.
      const later: ExecutionFacts = {
        ...facts,
        isLeaseTrusted: true,
        claims: { ...facts.claims, isPaused: false },
        tokens: { ...facts.tokens, isReleasing: false },
        tasks: { ...facts.tasks, running: 0, stuck: 0, claimed: step.call.claim },
      };
      expect(facts.tokens.count === 0 || mayStart(later)).toBe(true);
    });
  });

  test("a claim and the tasks claimed before stay within the tokens and the prefetch", () => {
    holdsAlways((facts, step) => {
      if (step.kind !== "call" || step.call.kind !== "work" || step.call.claim === 0) return;
      // A single one, for which the database has its own bound.
      if (facts.claims.isPaused) {
        expect([facts.claims.mayBeResumed, step.call.claim]).toEqual([true, 1]);
        return;
      }
      const held = facts.tasks.running + facts.tasks.claimed + step.call.claim;
      expect(held).toBeLessThanOrEqual(facts.tokens.count * (1 + facts.prefetchMax));
    });
  });

  test("a task starts only on a token on which no handler runs", () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        if (mayStart(facts)) expect(facts.tasks.running).toBeLessThan(facts.tokens.count);
      }),
      { numRuns: 5_000 },
    );
  });

  test("an end reports all that is left to report, then finishes", () => {
    holdsAlways((facts, step) => {
      if (facts.end === null) return;
      if (step.kind === "finish") expect(step.end).toBe(facts.end);
      if (step.kind === "call") expect(step.call).not.toMatchObject({ kind: "acquire" });
      if (step.kind === "call" && step.call.kind === "work") expect(step.call.claim).toBe(0);
      // No handler runs any more, and each call reports or gives back all that it is for.
      let rest = { ...facts, tasks: { ...facts.tasks, running: 0, stuck: 0, claimed: 0 } };
      for (let calls = 0; calls < 3; calls += 1) rest = afterCall(rest);
      expect(nextStep(rest)).toEqual({ kind: "finish", end: facts.end });
    });
  });

  test("an execution finishes by itself only when nothing runs and nothing is left to report", () => {
    holdsAlways((facts, step) => {
      if (facts.end !== null || step.kind !== "finish") return;
      expect(facts.tasks.running + facts.tasks.done + facts.tasks.failed).toBe(0);
      expect(mayStart({ ...facts, isLeaseTrusted: true }) && facts.tasks.claimed > 0).toBe(false);
    });
  });
});

/** The state after the next call, should there be one, with all that it was for. */
function afterCall<Facts extends ExecutionFacts>(facts: Facts): Facts {
  const step = nextStep(facts);
  if (step.kind !== "call") return facts;
  const { tasks, tokens } = facts;
  if (step.call.kind === "fail") return { ...facts, tasks: { ...tasks, failed: 0 } };
  if (step.call.kind === "work") return { ...facts, tasks: { ...tasks, done: 0 } };
  return { ...facts, tokens: { ...tokens, count: tasks.running } };
}
