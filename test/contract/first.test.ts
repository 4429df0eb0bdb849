import { expect, test } from "@jest/globals";
import { asOperationId } from "../../shared/core/ids";
import { realRandom, sleep } from "../../shared/platform/real-clock";
import { openStore } from "../../shared/store/open-store";
import { createTestDatabase } from "../support/test-postgres";

test("slice", async () => {
  const db = await createTestDatabase();
  const store = openStore({ url: db.url, connectionsMax: 3, random: realRandom, sleep });
  const settings = { limit: 4, leaseMs: 60000, maxAttempts: 5, maxLost: 3, retryBaseMs: 1000, retryCapMs: 300000, spareMax: 1, groupSlots: 1, groupStrict: false, retainDoneMs: 1000000, retainDeadMs: 10000000 };
  console.log(await store.registerDefinition({ name: "demo", build: 1, settingsHash: "h", registeredBy: "me", settings }));
  console.log(await store.enqueueTasks({ name: "demo", build: 1, operationId: asOperationId(realRandom.uuid()), tasks: [{ payload: '{"a":1}' }, { payload: null, group: "g" }] }));
  const started = await store.startExecution({ name: "demo", operationId: asOperationId(realRandom.uuid()), worker: "w", build: 1, settingsHash: "h", want: 3, needsReady: true });
  console.log(started);
  const executionId = started.executionId;
  if (executionId === null) throw new Error("x");
  const w = await store.work({ executionId, callNumber: 1, done: [], started: [], want: 2 });
  console.log(JSON.stringify(w));
  console.log(await store.work({ executionId, callNumber: 2, done: w.claimed.map((t) => ({ ...t, durationMs: 1, result: null })), started: [], want: 2 }));
  console.log(await store.heartbeat({ executions: [{ executionId, started: [] }] }));
  console.log(await store.finishExecution({ executionId }), await store.checkInvariants());
  console.log(await store.setLimit({ name: "demo", limit: null, operationId: asOperationId(realRandom.uuid()), changedBy: "x" }), await store.listDefinitions({}));
  await expect(store.setLimit({ name: "demoo", limit: null, operationId: asOperationId(realRandom.uuid()), changedBy: "x" })).rejects.toThrow("unknown");
  await store.close();
  await db.drop();
});
