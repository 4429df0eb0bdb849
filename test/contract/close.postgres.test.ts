import { expect, test } from "@jest/globals";
import { TaskgateError } from "../../shared/core/errors";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { within } from "../support/gate";
import { urlAs } from "../support/roles";
import { createTestDatabase } from "../support/test-postgres";

test("a store that is closed beside a statement that hangs ends it, and no later call is made again", async () => {
  const database = await createTestDatabase();
  const url = urlAs(database.url, "worker");
  const store = openStore({ url, connectionsMax: 1, random: realRandom, sleep });
  const codeOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => "answered",
      (error: unknown) => (error instanceof TaskgateError ? error.code : String(error)),
    );
  const hangs = codeOf(
    store.transaction((transaction) => transaction.query("select pg_sleep(30)", [])),
  );
  await sleep(200);
  await store.close();
  expect(await within(1_000, hangs)).toMatch(/^TASKGATE_STORE_(UNAVAILABLE|UNCERTAIN)$/u);
  expect(await within(1_000, codeOf(store.listDefinitions({})))).toBe("TASKGATE_STORE_UNAVAILABLE");
  await database.drop();
});
