import { describe, expect, test } from "@jest/globals";
import { StoreUnavailableError, StoreUncertainError } from "../../../shared/core/errors";
import { PatientCalls } from "../../../shared/store/patient-store";
import { createRepeat } from "../../../shared/store/repeat";
import { VirtualTime } from "../../workers/virtual-time";

/** A change whose attempts end as they are given, one after the other; `null`: without an answer. */
function openScene(ends: readonly (Error | null)[]) {
  const time = new VirtualTime();
  let tries = 0;
  const calls = new PatientCalls({
    ...{ timeoutMs: 5_000, sayAfterMs: 3_000, onSlow: () => undefined },
    timers: { after: (ms, callback) => time.after(ms, callback), soon: setImmediate },
  });
  const repeat = createRepeat({
    random: { uuid: () => "", fraction: () => 0.5 },
    sleep: (ms) => time.sleep(ms),
    onRepeat: (error) => {
      calls.noteTrouble(error);
    },
    onTry: () => {
      calls.noteTry();
    },
    goesOn: () => !calls.hasGivenUp,
  });
  const change = calls.run(
    () =>
      repeat(
        () => {
          const end = ends[Math.min(tries, ends.length - 1)] ?? null;
          tries += 1;
          return end === null ? new Promise(() => undefined) : Promise.reject(end);
        },
        () => true,
      ),
    { reads: false },
  );
  change.catch(() => undefined);
  return { time, change, tries: () => tries };
}

const readOnly = new StoreUnavailableError("The database can't be used now (25006)");
const lost = new StoreUncertainError("The connection was lost");

describe("a change that is given up", () => {
  test("changed nothing where each attempt was answered so, and isn't tried again", async () => {
    const { time, change, tries } = openScene([readOnly]);
    await time.run(5_000);
    await expect(change).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNAVAILABLE",
      message: "The database can't be used now (25006): gave up after 5 s: nothing was changed",
    });
    const before = tries();
    expect(before).toBeGreaterThan(3);
    await time.run(60_000);
    expect(tries()).toBe(before);
  });

  test.each([
    ["an attempt has no answer yet", [readOnly, null]],
    ["what became of an earlier attempt isn't known", [lost, readOnly]],
  ])("may still happen where %s", async (_, ends) => {
    const { time, change } = openScene(ends);
    await time.run(5_000);
    await expect(change).rejects.toMatchObject({
      code: "TASKGATE_STORE_UNCERTAIN",
      message: expect.stringMatching(/gave up after 5 s: the change may still happen$/),
    });
  });
});
