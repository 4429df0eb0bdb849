import { describe, expect, test } from "@jest/globals";
import type { CallLimit, CallLimits } from "../../../shared/worker/run/call-limits";
import { callMs, TokenScene } from "./token-scene";

const partner: CallLimit = { name: "partner", limit: 2 };
const database: CallLimit = { name: "database", limit: 1 };
const both = [partner, database];

async function heldOf(scene: TokenScene): Promise<Record<string, number>> {
  const { sharedLimits } = await scene.store.listSharedLimits({ max: 10 });
  return Object.fromEntries(sharedLimits.map(({ name, held }) => [name, held]));
}

describe("withTokens of several limits", () => {
  test("withTokens takes a token of each limit in one call of the database, and gives all back", async () => {
    const scene = new TokenScene();
    const { call, asked } = scene.process("one");
    const made = call(both);
    await scene.until(50);
    expect(made.beganMs).not.toBeNull();
    expect(asked).toEqual(["startExecution", "registerDefinition", "startExecution"]);
    expect(await heldOf(scene)).toEqual({ database: 1, partner: 1 });
    await scene.until(1_000);
    expect(await heldOf(scene)).toEqual({ database: 0, partner: 0 });
  });

  test("withTokens shares the tokens of the same limits in any order, and runs as many as the narrowest allows", async () => {
    const scene = new TokenScene();
    const { call, pools } = scene.process("one");
    expect(pools.of([database, partner])).toBe(pools.of(both));
    const calls = [both, [database, partner], both].map((limits) =>
      call(limits, { waitMs: 5_000 }),
    );
    await scene.until(1_000);
    expect(calls.map(({ answer }) => answer?.ran)).toEqual([true, true, true]);
    expect(scene.runningMax).toBe(1);
  });

  test("withTokens holds a token of no limit while it waits for another limit", async () => {
    const scene = new TokenScene();
    const one = scene.process("one");
    one.call(database, { bodyMs: 2_000 });
    await scene.until(50);
    const waiting = one.call(both, { waitMs: 1_000 });
    await scene.until(200);
    expect(await heldOf(scene)).toEqual({ database: 1, partner: 0 });
    const other = scene.process("other");
    const beside = [other.call(partner), other.call(partner)];
    await scene.until(300);
    expect(beside.map(({ beganMs }) => beganMs !== null)).toEqual([true, true]);
    await scene.until(1_500);
    expect(waiting.answer).toMatchObject({ ran: false, reason: "limited" });
  });

  test("withTokens gives a token that the process keeps idle of one limit to a call of several, and the other way round", async () => {
    const scene = new TokenScene();
    const { call, asked } = scene.process("one");
    const turns = [database, both, database, both];
    const calls = [];
    for (const [index, limit] of turns.entries()) {
      calls.push(call(limit, { bodyMs: 10 }));
      await scene.until(100 * (index + 1));
    }
    expect(calls.map(({ answer }) => answer)).toEqual(turns.map(() => ({ ran: true })));
    expect(asked.filter((name) => name === "finishExecution")).toHaveLength(3);
    // Of a token that another process holds nothing is given back in vain.
    const other = scene.process("other");
    other.call(partner, { bodyMs: 2_000 });
    await scene.until(500);
    const before = other.asked.length;
    const denied = other.call(both);
    await scene.until(600);
    expect(denied.answer).toMatchObject({ ran: false, reason: "limited" });
    expect(other.asked.slice(before)).toEqual(["startExecution"]);
  });

  test("withTokens of several limits asks no second time for a call that has left while idle tokens went back", async () => {
    const scene = new TokenScene();
    const one = scene.process("one");
    const ready = one.call(both, { bodyMs: 10 });
    await scene.until(100);
    one.call(database, { bodyMs: 10 });
    await scene.until(200);
    expect(ready.answer).toEqual({ ran: true });
    // Now the process keeps the database's token idle under its own name.
    const own = new AbortController();
    const left = one.call(both, { waitMs: 1_000, signal: own.signal });
    await scene.until(200 + callMs + 1);
    own.abort();
    await scene.until(200 + 3 * callMs);
    const next = one.call(both, { bodyMs: 10 });
    await scene.until(400);
    expect(left.answer).toMatchObject({ ran: false, reason: "aborted" });
    expect(next.error).toBeNull();
    expect(one.lines.filter(({ message }) => message.includes("could not"))).toEqual([]);
  });

  test("withTokens of a list with one limit is that of the limit alone", async () => {
    const scene = new TokenScene();
    const { call, pools } = scene.process("one");
    expect(pools.of([partner])).toBe(pools.of(partner));
    const rated = { name: "rated", limit: 4, rate: { count: 1, periodMs: 60_000, burst: 1 } };
    const calls = [call([rated]), call([rated])];
    await scene.until(500);
    expect(calls.filter(({ beganMs }) => beganMs !== null)).toHaveLength(1);
  });

  test("withTokens takes a limit whose name has 194 characters, and refuses a longer one by that name", () => {
    const { pools } = new TokenScene().process("one");
    const named = (length: number): CallLimit => ({ name: "n".repeat(length), limit: 1 });
    expect(() => pools.of(named(194))).not.toThrow();
    expect(() => pools.of(named(195))).toThrow(
      /^limit\.name: expected 1\.\.194 characters \(the text "n/,
    );
    expect(() => pools.of([partner, named(195)])).toThrow(
      /^limits\[1\]\.name: expected 1\.\.194 characters/,
    );
  });

  test("withTokens keeps the tokens of several limits on the shortest lease of them", () => {
    const { pools } = new TokenScene().process("one");
    const leaseOf = (limits: CallLimits): number => pools.of(limits).definition.settings.leaseMs;
    expect(leaseOf([{ name: "a" }, { name: "b" }])).toBe(60_000);
    expect(leaseOf([{ name: "c", leaseMs: 3_000 }, { name: "a" }])).toBe(3_000);
    expect(leaseOf([{ name: "d", leaseMs: 90_000 }, { name: "b" }])).toBe(60_000);
  });

  test("withTokens gives lists of different limits different definitions, also where their names are long or look alike", () => {
    const { pools } = new TokenScene().process("one");
    const name = (limits: CallLimits): string => pools.of(limits).definition.name;
    const long = Array.from({ length: 8 }, (_, index) => ({
      name: `${"é😀".repeat(60)}${String(index)}`,
    }));
    const names = [
      name([{ name: "a" }, { name: "b & c" }]),
      name([{ name: "a & b" }, { name: "c" }]),
      name({ name: "a & b" }),
      name(long),
      name(long.slice(0, 7)),
    ];
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((each) => each.startsWith("calls:") && each.length <= 200)).toBe(true);
  });
});

describe("bad limits of withTokens", () => {
  const nine = Array.from({ length: 9 }, (_, index) => ({ name: `limit-${String(index)}` }));
  test.each<[string, unknown, string]>([
    ["an empty list", [], "limits: expected 1..8 limits (0)"],
    ["nine limits", nine, "limits: expected 1..8 limits (9)"],
    [
      "one limit twice",
      [partner, { ...partner }],
      "limits: expected each limit once (partner comes twice)",
    ],
    [
      "a name instead of a limit",
      "partner",
      'limit: expected { name, limit }, as defineLimit returns it (the text "partner")',
    ],
    [
      "a name in the list",
      [partner, "database"],
      'limits[1]: expected { name, limit }, as defineLimit returns it (the text "database")',
    ],
    ["null", null, "limit: expected { name, limit }, as defineLimit returns it (null)"],
    [
      "a rate among several",
      [partner, { name: "rated", rate: { count: 1, periodMs: 1_000 } }],
      "rate: expected no rate among several limits (rated has one)",
    ],
    [
      "a number out of range",
      [partner, { name: "wide", limit: 1_001 }],
      "limit: expected a whole number in 0..1000 (1001)",
    ],
    [
      "another number than this process uses",
      [database, { ...partner, limit: 3 }],
      "limit: expected 2 (3)",
    ],
  ])("withTokens refuses %s and names the field", (_, limits, message) => {
    const { pools } = new TokenScene().process("one");
    pools.of(partner);
    expect(() => pools.of(limits as CallLimits)).toThrow(message);
  });
});
