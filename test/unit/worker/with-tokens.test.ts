import { describe, expect, test } from "@jest/globals";
import { LeaseLostError } from "../../../shared/core/errors";
import { sleep } from "../../../shared/platform/real-clock";
import { withTokens } from "../../../shared/worker/with-tokens";
import { openWorkerBench, overriding } from "./worker-bench";

describe("withTokens", () => {
  test("holds the limit, answers limited as a value with when to ask again, gives back when the body throws", async () => {
    const bench = openWorkerBench([]);
    const inner = await withTokens(bench, { name: "partner", limit: 2, want: 2 }, async () =>
      withTokens(bench, { name: "partner", limit: 2 }, async () => 1),
    );
    expect(inner).toMatchObject({ status: "ran", value: { status: "limited" } });
    if (inner.status !== "ran" || inner.value.status === "ran") throw new Error("expected limited");
    expect(inner.value.retryInMs).toBeGreaterThan(0);
    await expect(
      withTokens(bench, { name: "partner", limit: 2 }, async () =>
        Promise.reject(new Error("body")),
      ),
    ).rejects.toThrow("body");
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({
      held: 0,
      executions: 0,
    });
  });

  test("a wish that can only be met in part is limited, and keeps nothing", async () => {
    const bench = openWorkerBench([]);
    const outer = await withTokens(bench, { name: "partner", limit: 3, want: 2 }, async () =>
      withTokens(bench, { name: "partner", limit: 3, want: 2 }, async () => 1),
    );
    expect(outer).toMatchObject({ value: { status: "limited" } });
    expect((await bench.store.listDefinitions({})).definitions[0]).toMatchObject({ held: 0 });
  });

  test("the body's signal is aborted when the lease can't be renewed", async () => {
    const refuse = async (): Promise<never> => Promise.reject(new Error("silent"));
    const bench = openWorkerBench([], {
      wrap: (store) => overriding(store, { heartbeat: refuse }),
    });
    const answer = await withTokens(
      bench,
      { name: "partner", limit: 1, leaseMs: 1_000 },
      async ({ signal }) => {
        await sleep(5_000, signal);
        return signal.reason instanceof LeaseLostError;
      },
    );
    expect(answer).toEqual({ status: "ran", value: true });
  });
});
