import { describe, expect, test } from "@jest/globals";
import { StoreUnavailableError } from "../../../shared/core/errors";
import type { PurgeAnswer } from "../../../shared/ports/task-store";
import type { TelemetryCounter } from "../../../shared/ports/telemetry";
import { noTelemetry } from "../../../shared/ports/telemetry";
import { purge } from "../../../shared/worker/run/purge";
import { openWorkerBench, overriding } from "./worker-bench";

const full: PurgeAnswer = {
  status: "purged",
  purged: 504,
  tasks: 500,
  executions: 0,
  operations: 1,
  keys: 0,
  groups: 0,
  batches: 2,
  auditEntries: 1,
  more: true,
};
const last: PurgeAnswer = {
  ...full,
  purged: 3,
  tasks: 3,
  operations: 0,
  batches: 0,
  auditEntries: 0,
  more: false,
};
const none: PurgeAnswer = { ...last, status: "none", purged: 0, tasks: 0 };

/** A purge over a store that answers so, slice after slice; a slice takes 100 ms. */
async function purgeWith(answers: readonly (PurgeAnswer | Error)[], maxMs: number) {
  let calls = 0;
  let nowMs = 0;
  const counts = new Map<TelemetryCounter, number>();
  const { environment, lines } = openWorkerBench([], {
    wrap: (store) =>
      overriding(store, {
        purge: ({ max }) => {
          expect(max).toBe(500);
          const answer = answers[Math.min(calls, answers.length - 1)] ?? none;
          calls += 1;
          nowMs += 100;
          return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
        },
      }),
  });
  const clock = { ...environment.clock, monotonicMs: () => nowMs };
  const telemetry = {
    ...noTelemetry,
    count: (name: TelemetryCounter, value: number) => void counts.set(name, value),
  };
  await purge({ ...environment, clock, telemetry }, maxMs);
  return { calls, lines, purged: counts.get("taskgate.task.purged") };
}

describe("the sweep's purge", () => {
  test("the sweep's purge goes on slice by slice until nothing is left, and counts tasks", async () => {
    const { calls, lines, purged } = await purgeWith([full, full, last], 5_000);
    expect(calls).toBe(3);
    expect(purged).toBe(1_003);
    expect(lines).toEqual([
      {
        level: "info",
        message: "purged what nobody needs any more",
        fields: {
          tasks: 1_003,
          executions: 0,
          operations: 2,
          keys: 0,
          groups: 0,
          batches: 4,
          auditEntries: 2,
        },
      },
    ]);
  });

  test("the sweep's purge ends with its time: the rest is the next sweep's", async () => {
    const { calls, purged } = await purgeWith([full], 1_000);
    expect(calls).toBe(10);
    expect(purged).toBe(5_000);
  });

  test("the sweep's purge doesn't insist where another call has locked all the rest", async () => {
    const { calls } = await purgeWith([full, { ...none, more: true }], 5_000);
    expect(calls).toBe(2);
  });

  test("a failing slice is logged and not thrown; the slices before count", async () => {
    const { calls, lines, purged } = await purgeWith(
      [full, new StoreUnavailableError("the database is away")],
      5_000,
    );
    expect(calls).toBe(2);
    expect(purged).toBe(500);
    expect(lines[0]).toMatchObject({
      level: "warn",
      message: "a purge failed; the next sweep goes on",
    });
  });
});
