import { describe, expect, test } from "@jest/globals";
import { createAdmin } from "../../../shared/admin/create-admin";
import { completeTasks } from "../../../shared/worker/client/complete-tasks";
import { register } from "../../../shared/worker/client/register";
import { defineTask } from "../../../shared/worker/define/define-task";
import { createRegistry } from "../../../shared/worker/define/registry";
import { taskRequest } from "../../../shared/worker/define/task-ref";
import type { AnyTaskKind } from "../../../shared/worker/define/task-kind";
import { openWorkerBench } from "./worker-bench";

/* A caller with ten thousand tasks needs the place of the one that is refused, whichever layer refuses it. */

const run = () => Promise.resolve();
const byPath = defineTask<{ customer: string | string[] }>({
  name: "by-path",
  group: { by: "customer" },
  run,
});
const byCode = defineTask<{ customer: { id: string } }>({
  name: "by-code",
  groupKey: ({ customer }) => customer.id,
  run,
});
const plain = defineTask<{ at?: number }>({ name: "plain", run });
const kinds: readonly AnyTaskKind[] = [byPath, byCode, plain];

async function openAdmin() {
  const { environment } = openWorkerBench(kinds);
  const registry = createRegistry(kinds);
  for (const definition of registry.definitions) await register(environment, definition);
  return createAdmin({
    ...environment,
    completeTasks: (call, tasks) => completeTasks(registry, call, tasks),
  });
}

describe("the place of a refused task among several", () => {
  test.each([
    ["by-path", '{"customer":true}', /^tasks\[1\]\.payload\.customer: expected a key/],
    [
      "by-code",
      "{}",
      /^tasks\[1\]\.group: expected a key that the code of kind by-code computes from the payload; it threw: Cannot read/,
    ],
  ])(
    "the place of a refused task is named by HTTP and the command line for kind %s",
    async (definition, payload, message) => {
      const admin = await openAdmin();
      const good = { payload: '{"customer":{"id":"a"}}' };
      const tasks = [definition === "by-path" ? { payload: "{}" } : good, { payload }];
      await expect(admin.enqueue({ definition, tasks, changedBy: "ada" })).rejects.toMatchObject({
        message: expect.stringMatching(message),
        details: { field: "tasks[1].group" },
      });
      const one = admin.enqueue({ definition, tasks: [{ payload }], changedBy: "ada" });
      await expect(one).rejects.toMatchObject({ details: { field: "group" } });
    },
  );

  test("the place of a refused task is named by enqueueMany and enqueueAll, and by enqueue it isn't", async () => {
    const { client } = openWorkerBench(kinds);
    const bad = { customer: ["a"] };
    await expect(client.enqueueMany(byPath, [{ customer: "a" }, bad])).rejects.toThrow(
      /^tasks\[1\]\.payload\.customer: /,
    );
    const requests = [taskRequest(plain, {}), taskRequest(plain, {}), taskRequest(byPath, bad)];
    await expect(client.enqueueAll(requests)).rejects.toThrow(/^tasks\[2\]\.payload\.customer: /);
    await expect(client.enqueue(byPath, bad)).rejects.toThrow(/^payload\.customer: /);
  });

  test("the place of a refused task is the one in the caller's list where the list is cut into calls", async () => {
    const { client } = openWorkerBench(kinds);
    const requests = [
      taskRequest(plain, { at: 0 }),
      taskRequest(byPath, { customer: "a" }),
      taskRequest(plain, { at: 2 }),
      taskRequest(plain, { at: 3 }, { priority: 40_000 }),
    ];
    await expect(client.enqueueAll(requests)).rejects.toMatchObject({
      message: expect.stringMatching(/^tasks\[3\]\.priority: expected .*\(40000\)/),
      details: { field: "tasks[3].priority" },
    });
  });
});
