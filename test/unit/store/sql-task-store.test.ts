import { describe, expect, test } from "@jest/globals";
import {
  StoreConflictError,
  StoreUnavailableError,
  StoreUncertainError,
} from "../../../shared/core/errors";
import { realRandom } from "../../../shared/platform/real-clock";
import type { ProcedureCaller } from "../../../shared/store/procedure-caller";
import { createRepeat } from "../../../shared/store/repeat";
import { SqlTaskStore } from "../../../shared/store/sql-task-store";
import { operationId } from "../../support/builders";

/* Goal: what a caller hears of a call that was made several times is true of all its attempts. */
const lost = new StoreUncertainError("the connection was lost");
const away = new StoreUnavailableError("connect ECONNREFUSED");
const conflict = new StoreConflictError("deadlock");

/** A store whose attempts fail one after the other, the last one for ever. */
function storeThat(...errors: readonly Error[]): SqlTaskStore {
  let at = 0;
  const call = () => Promise.reject(errors[Math.min(at++, errors.length - 1)] ?? lost);
  const repeat = createRepeat({ random: realRandom, sleep: () => Promise.resolve() });
  return new SqlTaskStore({ dialect: "postgres", call } as unknown as ProcedureCaller, repeat);
}

const enqueue = (store: SqlTaskStore) =>
  store.enqueueTasks({
    name: "mail",
    build: 0,
    operationId: operationId(),
    tasks: [{ payload: null }],
  });

describe("a call that fails in the end", () => {
  test.each([
    ["away", away],
    ["in conflict", conflict],
  ])(
    "a call that fails in the end is in doubt where an attempt's answer was lost, though the last one was %s",
    async (_, last) => {
      const error: unknown = await enqueue(storeThat(lost, last)).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(StoreUncertainError);
      expect(error).toMatchObject({ isRetryable: false, cause: last });
      expect(String(error)).toContain(`the last one said: ${last.message}`);
    },
  );

  test("a call that fails in the end says that nothing happened where no attempt was in doubt", async () => {
    await expect(enqueue(storeThat(conflict, away))).rejects.toBe(away);
  });

  test("a failed call that only reads is never in doubt", async () => {
    await expect(storeThat(lost, away).listDefinitions({})).rejects.toBe(away);
  });
});
