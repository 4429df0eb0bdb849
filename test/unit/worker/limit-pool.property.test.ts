import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { TaskStore } from "../../../shared/ports/task-store";
import type { CallLimit } from "../../../shared/worker/run/call-limits";
import { testSeed } from "../../support/builders";
import { TokenScene } from "./token-scene";
import type { Call, CallingProcess } from "./token-scene";
import { overriding } from "./worker-bench";

/*
 * Goal: whatever calls come, wait, leave and end, and whichever processes stop: no limit is passed, no caller waits for ever, and
 * every token is back at the end. Method: random scenes on the memory store in virtual time; a scene that fails is made smaller.
 */
const names = ["one", "two", "three"] as const;
const narrow = "narrow";
const wide = "wide";
/** A call that may wait so long must be served. */
const patientMs = 200_000;
const endMs = 400_000;

interface Plan {
  readonly atMs: number;
  readonly process: number;
  readonly limits: readonly string[];
  readonly want: number;
  readonly waitMs: number;
  readonly bodyMs: number;
  readonly abortAfterMs: number | null;
}

interface Stop {
  readonly process: number;
  readonly atMs: number;
}

interface Scenario {
  readonly narrow: number;
  readonly wide: number;
  readonly calls: readonly Plan[];
  readonly stop: Stop | null;
  /** Time passes while code runs. */
  readonly isRestless: boolean;
}

const plan: fc.Arbitrary<Plan> = fc.record({
  atMs: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 6_000 })),
  process: fc.nat(names.length - 1),
  limits: fc.constantFrom([narrow], [wide], [narrow, wide], [wide, narrow]),
  want: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.constant(2)),
  waitMs: fc.constantFrom(0, 150, 2_000, patientMs),
  bodyMs: fc.integer({ min: 1, max: 250 }),
  abortAfterMs: fc.option(fc.integer({ min: 0, max: 3_000 }), { freq: 4 }),
});

const scenario: fc.Arbitrary<Scenario> = fc.record({
  narrow: fc.integer({ min: 1, max: 2 }),
  wide: fc.integer({ min: 1, max: 4 }),
  calls: fc.array(plan, { minLength: 1, maxLength: 40 }),
  stop: fc.option(
    fc.record({ process: fc.nat(names.length - 1), atMs: fc.integer({ min: 0, max: 5_000 }) }),
  ),
  isRestless: fc.boolean(),
});

interface Made {
  readonly plan: Plan;
  readonly call: Call;
}

/** `wrap` stands between the processes and the store: a fault. */
async function play(
  given: Scenario,
  wrap: (store: TaskStore) => TaskStore = (store) => store,
): Promise<{ scene: TokenScene; made: Made[] }> {
  const scene = new TokenScene({ isRestless: given.isRestless });
  const processes = names.map((name) => scene.process(name, wrap));
  const limits: Record<string, CallLimit> = {
    [narrow]: { name: narrow, limit: given.narrow },
    [wide]: { name: wide, limit: given.wide },
  };
  const made: Made[] = [];
  for (const each of given.calls)
    scene.time.after(each.atMs, () => {
      const process = processes[each.process] as CallingProcess;
      const leaves = new AbortController();
      const { want, waitMs, bodyMs, abortAfterMs } = each;
      const of = each.limits.map((name) => limits[name] as CallLimit);
      const call = process.call(of, { want, waitMs, bodyMs, signal: leaves.signal });
      made.push({ plan: each, call });
      if (abortAfterMs !== null)
        scene.time.after(abortAfterMs, () => {
          leaves.abort(new Error("the caller left"));
        });
    });
  const { stop } = given;
  if (stop !== null) scene.time.after(stop.atMs, () => void processes[stop.process]?.pools.stop());
  await scene.until(endMs);
  return { scene, made };
}

/** The most tokens of a limit that bodies ran on at once. */
function mostOf(made: readonly Made[], name: string): number {
  const bodies = made.flatMap(({ plan: { limits, want }, call: { beganMs, endedMs } }) =>
    limits.includes(name) && beganMs !== null
      ? [{ want, beganMs, endedMs: endedMs ?? Infinity }]
      : [],
  );
  const at = (ms: number): number =>
    bodies
      .filter(({ beganMs, endedMs }) => beganMs <= ms && endedMs > ms)
      .reduce((sum, { want }) => sum + want, 0);
  return Math.max(0, ...bodies.map(({ beganMs }) => at(beganMs)));
}

/** The most tokens that a call can have of each of its limits. */
function widestOf({ limits }: Plan, given: Scenario): number {
  return Math.min(...limits.map((name) => (name === narrow ? given.narrow : given.wide)));
}

/** A call that its limits can serve and that nothing ends before. */
function mustRun({ plan: each }: Made, given: Scenario): boolean {
  const { want, waitMs, abortAfterMs, process, atMs } = each;
  // Calls are served in their order. One that its limits can't serve holds up those behind it until it leaves: too late for a
  // call of the same instant that waits as long.
  const isHeldUp = given.calls.some(
    (other) =>
      other !== each &&
      other.process === process &&
      other.atMs === atMs &&
      other.waitMs === patientMs &&
      other.want > widestOf(other, given),
  );
  return (
    want <= widestOf(each, given) &&
    waitMs === patientMs &&
    abortAfterMs === null &&
    given.stop?.process !== process &&
    !isHeldUp
  );
}

const runs = { scenes: 0, ran: 0, denied: 0 };

async function judge(given: Scenario, wrap?: (store: TaskStore) => TaskStore): Promise<void> {
  const { scene, made } = await play(given, wrap);
  expect(mostOf(made, narrow)).toBeLessThanOrEqual(given.narrow);
  expect(mostOf(made, wide)).toBeLessThanOrEqual(given.wide);
  expect(made.filter(({ call }) => call.error !== null)).toEqual([]);
  // Each call has its answer, and a body that began has ended.
  const open = made.filter(
    ({ call }) => call.answer === null || (call.beganMs !== null && call.endedMs === null),
  );
  expect(open).toEqual([]);
  const starved = made.filter((each) => mustRun(each, given) && each.call.answer?.ran !== true);
  expect(starved).toEqual([]);
  const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
  expect(sharedLimits.filter(({ held }) => held > 0)).toEqual([]);
  const { executions } = await scene.store.listExecutions({ isOpen: true, max: 10 });
  expect(executions).toEqual([]);
  expect(await scene.store.checkInvariants()).toEqual({ status: "sound", findings: [] });
  runs.scenes += 1;
  for (const { call } of made) runs[call.answer?.ran === true ? "ran" : "denied"] += 1;
}

describe("tokens of random calls over three processes", () => {
  afterAll(() => {
    // The scenes are worth something: calls ran, and others were denied.
    expect(runs.ran).toBeGreaterThan(runs.scenes);
    expect(runs.denied).toBeGreaterThan(runs.scenes);
  });

  test("withTokens passes no limit, serves every caller that waits, and leaves no token behind", async () => {
    const property = fc.asyncProperty(scenario, (given) => judge(given));
    await fc.assert(property, { numRuns: 40, seed: testSeed() });
  }, 120_000);

  test("a caller that waits is served soon after the tokens are back, though time passes while code runs", async () => {
    const limit = { name: narrow, limit: 1 };
    for (let seed = 1; seed <= 20; seed += 1) {
      const scene = new TokenScene({ seed, isRestless: true });
      const holder = scene.process("one").call(limit, { bodyMs: 1_500 });
      await scene.until(50);
      const caller = scene.process("two").call(limit, { waitMs: patientMs });
      await scene.until(4_000);
      expect(holder.endedMs).toBeLessThan(1_600);
      // A token that nobody uses goes back within 500 ms, and waiting processes ask every 500 ms.
      expect({ seed, wasSoon: (caller.beganMs ?? Infinity) < 2_700 }).toEqual({
        seed,
        wasSoon: true,
      });
    }
  });

  const call: Plan = {
    atMs: 0,
    process: 0,
    limits: [narrow],
    want: 1,
    waitMs: patientMs,
    bodyMs: 100,
    abortAfterMs: null,
  };
  const four: Scenario = {
    narrow: 1,
    wide: 1,
    calls: [call, call, call, call],
    stop: null,
    isRestless: false,
  };

  test.each<[string, (store: TaskStore) => TaskStore]>([
    [
      "a token more than was granted",
      (store) =>
        overriding(store, {
          startExecution: async (input) => {
            const answer = await store.startExecution(input);
            return { ...answer, tokens: answer.tokens > 0 ? answer.tokens + 1 : 0 };
          },
        }),
    ],
    [
      "an end that gives nothing back",
      (store) =>
        overriding(store, {
          finishExecution: () =>
            Promise.resolve({ status: "finished", returned: [], woken: [] } as never),
        }),
    ],
    [
      "a denial that is never asked again",
      (store) =>
        overriding(store, {
          startExecution: async (input) =>
            input.worker === "two"
              ? store.startExecution({ ...input, want: 0 })
              : store.startExecution(input),
        }),
    ],
  ])("the control is seen: %s", async (_, wrap) => {
    const given = { ...four, calls: [...four.calls, { ...call, process: 1 }] };
    await judge(given);
    await expect(judge(given, wrap)).rejects.toThrow();
  });
});
