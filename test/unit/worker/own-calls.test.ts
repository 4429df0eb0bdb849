import { describe, expect, test } from "@jest/globals";
import { sleep } from "../../../shared/platform/real-clock";
import type { HeartbeatAnswer } from "../../../shared/ports/task-store";
import { defineTask } from "../../../shared/worker/define/define-task";
import { taskRequest } from "../../../shared/worker/define/task-ref";
import { OwnCalls } from "../../../shared/worker/run/own-calls";
import { callMs, TokenScene } from "./token-scene";
import { openWorkerBench, overriding } from "./worker-bench";

type Told = HeartbeatAnswer["executions"][number];
const at = (ms: number) => ({ monotonicMs: ms, wallMs: ms });

describe("what a heartbeat tells of an execution's tokens and claims", () => {
  const known = { tokens: 2, claims: 3 };
  const told = (tokens: number | null, claims: number | null): Told =>
    ({ tokens, claims }) as unknown as Told;
  const quiet = () => new OwnCalls({ monotonicMs: () => 100, nowMs: () => 100 });

  test.each<[tokens: number | null, claims: number | null, isForgotten: boolean, why: string]>([
    [2, 3, false, "as the worker knows them"],
    [1, 3, true, "a token less: its grant is lost"],
    [3, 3, false, "a token more: the answer to an ask was lost"],
    [2, 4, true, "a claim more: an end is lost"],
    [2, 2, false, "a claim less: a handler has completed its task by itself"],
    [null, null, false, "nothing: the functions are of a build of before"],
  ])("%p tokens and %p claims: forgotten is %p (%s)", (tokens, claims, isForgotten) => {
    expect(quiet().areForgotten(told(tokens, claims), at(100), known)).toBe(isForgotten);
  });

  test("a heartbeat's answer isn't compared while a call of its own is under way, nor with one that ended behind the heartbeat's begin", async () => {
    let nowMs = 100;
    const calls = new OwnCalls({ monotonicMs: () => nowMs, nowMs: () => nowMs });
    let answer = (): void => undefined;
    const call = calls.during(new Promise<void>((resolve) => (answer = resolve)));
    expect(calls.areForgotten(told(0, 0), at(100), known)).toBe(false);
    nowMs = 110;
    answer();
    await call;
    expect(calls.areForgotten(told(0, 0), at(110), known)).toBe(false);
    expect(calls.areForgotten(told(0, 0), at(111), known)).toBe(true);
    await expect(calls.during(Promise.reject(new Error("lost")))).rejects.toThrow("lost");
    expect(calls.areForgotten(told(0, 0), at(111), known)).toBe(true);
  });
});

describe("a database that has lost what an execution did lately", () => {
  test("a process aborts the bodies whose grant the database has lost, at the next look, and others get the token", async () => {
    const scene = new TokenScene();
    const partner = { name: "partner", limit: 2, leaseMs: 30_000 };
    const { call, lines } = scene.process("one");
    const first = call(partner, { bodyMs: 60_000 });
    await scene.until(500);
    let kept: unknown;
    scene.store.damage((state) => (kept = structuredClone(state)));
    const second = call(partner, { bodyMs: 60_000 });
    await scene.until(900);
    expect(second.beganMs).not.toBeNull();
    scene.store.damage((state) => Object.assign(state, kept));
    const other = scene.process("two").call(partner, { waitMs: 1_000, bodyMs: 60_000 });
    await scene.until(2_500);
    expect(other.beganMs).not.toBeNull();
    expect([first.wasAborted, second.wasAborted, other.wasAborted]).toEqual([true, true, false]);
    expect(first.endedMs).toBeLessThan(900 + 1_000 + 4 * callMs);
    expect(lines.map(({ message }) => message)).toContain(
      "the lease of tokens was lost; the bodies were told to stop",
    );
  });

  test.each([
    ["a token less than the worker holds", (told: Told) => ({ ...told, tokens: 0 }), "lost"],
    ["a claim more than the worker knows", (told: Told) => ({ ...told, claims: 2 }), "lost"],
    ["both as the worker knows them", (told: Told) => told, "idle"],
  ])("an execution ends as it should where the database tells %s", async (_, change, end) => {
    let wasAborted = false;
    const task = defineTask({
      name: "long",
      limit: 1,
      leaseMs: 1_000,
      run: async (_payload, { signal }) => {
        await sleep(900, signal).catch(() => undefined);
        wasAborted = signal.aborted;
      },
    });
    const bench = openWorkerBench([task], {
      wrap: (store) =>
        overriding(store, {
          heartbeat: async (input) => {
            const { executions } = await store.heartbeat(input);
            return { executions: executions.map(change) };
          },
        }),
    });
    await bench.client.enqueueAll([taskRequest(task, {})]);
    expect(await bench.work("long", { idleReads: 0 })).toMatchObject({ end });
    expect(wasAborted).toBe(end === "lost");
  });

  test("an execution whose calls renew its lease all the time hears of it within a third of the lease", async () => {
    let beats = 0;
    let ended = 0;
    const task = defineTask({
      name: "short",
      limit: 1,
      leaseMs: 1_500,
      prefetch: 0,
      run: async (_payload, { signal }) => {
        await sleep(20, signal).catch(() => undefined);
        ended += 1;
      },
    });
    const bench = openWorkerBench([task], {
      wrap: (store) =>
        overriding(store, {
          heartbeat: async (input) => {
            beats += 1;
            const { executions } = await store.heartbeat(input);
            return { executions: executions.map((told) => ({ ...told, tokens: 0 })) };
          },
        }),
    });
    await bench.client.enqueueAll(Array.from({ length: 200 }, () => taskRequest(task, {})));
    expect(await bench.work("short", { idleReads: 0 })).toMatchObject({ end: "lost" });
    expect(beats).toBe(1);
    // Half a second of them, of four.
    expect(ended).toBeLessThan(80);
  });
});
