import { expect, test } from "@jest/globals";
import { z } from "zod";
import { createAdmin } from "../../shared/admin/create-admin";
import { completeTasks } from "../../shared/worker/client/complete-tasks";
import { createRegistry } from "../../shared/worker/define/registry";
import { openWorkerBench } from "../unit/worker/worker-bench";
import { defineQueue } from "../../shared/worker/define/define-queue";
import { defineTask } from "../../shared/worker/define/define-task";
import { taskRequest, taskRef } from "../../shared/worker/define/task-ref";

const refusing = defineQueue({ name: "mail" });
const keeping = defineQueue({ name: "mixed", onUnknownKind: "keep" });
const operator = { changedBy: "cli:ada" };
const nothing = async () => undefined;
const kinds = [
  defineTask({ name: "send-mail", queue: refusing, run: nothing }),
  defineTask({ name: "read-mail", queue: refusing, run: nothing }),
  defineTask({ name: "known", queue: keeping, run: nothing }),
];

const letter = defineTask({
  name: "letter",
  input: z.object({ to: z.string("expected a text") }),
  run: nothing,
});

const refusal =
  /kind: expected one of definition mail's kinds, which are send-mail, read-mail \(send-mial\)\. Did you mean send-mail\?/;

/** An admin as the app makes it: with its registry. */
async function open() {
  const bench = openWorkerBench(kinds);
  const { store, environment, client } = bench;
  const registry = createRegistry(kinds);
  const admin = createAdmin({
    store,
    wakeUp: environment.wakeUp,
    random: environment.random,
    timers: environment.timers,
    build: 1,
    completeTasks: (call, rows) => completeTasks(registry, call, rows),
  });
  await client.enqueueAll([
    taskRequest(taskRef({ name: "send-mail", queue: "mail" })),
    taskRequest(taskRef({ name: "known", queue: "mixed" })),
  ]);
  return { admin, client, bench };
}

test("the client refuses a kind that its definition doesn't have, with the near name", async () => {
  const { client } = await open();
  await expect(client.enqueue(taskRef({ name: "send-mial", queue: "mail" }))).rejects.toThrow(
    refusal,
  );
});

test("HTTP and command line refuse it and name the task of a list", async () => {
  const { admin } = await open();
  const tasks = [
    { payload: null, kind: "read-mail" },
    { payload: null, kind: "send-mial" },
  ];
  await expect(admin.enqueue({ ...operator, definition: "mail", tasks })).rejects.toThrow(
    /^tasks\[1\]\.kind: expected one of definition mail's kinds/,
  );
  await expect(admin.enqueue({ ...operator, definition: "mail", tasks })).rejects.toMatchObject({
    details: {
      problems: [
        {
          field: "tasks[1].kind",
          value: '"send-mial"',
          expected:
            'one of definition mail\'s kinds, which are send-mail, read-mail. Did you mean send-mail? For a kind of other code: onUnknownKind: "keep" in the definition',
        },
      ],
    },
  });
  // The definition's own name is no kind where kinds share it.
  await expect(
    admin.enqueue({ ...operator, definition: "mail", tasks: [{ payload: null }] }),
  ).rejects.toThrow(/^kind: .*\(mail\)/);
});

test("a payload that the kind's schema refuses is a problem with its place, too", async () => {
  const registry = createRegistry([letter]);
  const tasks = [{ payload: '{"to":"Ada"}' }, { payload: '{"to":7}' }];
  const call = completeTasks(registry, { definition: "letter" }, tasks);
  const expected = "what kind letter takes (to: expected a text)";
  await expect(call).rejects.toMatchObject({
    details: { problems: [{ field: "tasks[1].payload", value: "an object", expected }] },
  });
});

test("a kind of another definition is none of this one's: it would run under the limit of this one", async () => {
  const { admin } = await open();
  const tasks = [{ payload: null, kind: "known" }];
  await expect(admin.enqueue({ ...operator, definition: "mail", tasks })).rejects.toThrow(
    /^kind: expected one of definition mail's kinds, which are send-mail, read-mail \(known\)/,
  );
});

test("a caller may say that the kind is other code's, and so may the definition", async () => {
  const { admin, client } = await open();
  const tasks = [{ payload: null, kind: "send-mial" }];
  const told = await admin.enqueue({
    ...operator,
    definition: "mail",
    tasks,
    allowsUnknownKind: true,
  });
  expect(told.enqueued).toBe(1);
  expect((await admin.enqueue({ ...operator, definition: "mixed", tasks })).enqueued).toBe(1);
  await expect(client.enqueue(taskRef({ name: "later", queue: "mixed" }))).resolves.toMatchObject({
    outcome: "enqueued",
  });
});

test("only a caller that has the option is told of it", async () => {
  const { admin } = await open();
  const tasks = [{ payload: null, kind: "send-mial" }];
  const request = { ...operator, definition: "mail", tasks };
  await expect(admin.enqueue({ ...request, allowsUnknownKind: false })).rejects.toThrow(
    /other code: --allow-unknown-kind, or onUnknownKind: "keep" in the definition$/,
  );
  await expect(admin.enqueue(request)).rejects.toThrow(
    /other code: onUnknownKind: "keep" in the definition$/,
  );
});

test("a handler's child of an unknown kind fails its task with the near name", async () => {
  const parent = defineTask({
    name: "parent",
    retry: { attempts: 1 },
    run: async (_, ctx) => ctx.enqueue(taskRef({ name: "send-mial", queue: "mail" })),
  });
  const bench = openWorkerBench([...kinds, parent]);
  await bench.client.enqueue(parent);
  await bench.work("parent");
  const { tasks } = await bench.store.listTasks({ name: "parent", state: "dead", max: 1 });
  expect(tasks[0]?.error).toMatch(refusal);
});

test("the build knows nothing of a definition that it doesn't have", async () => {
  const { client } = await open();
  await expect(client.enqueue(taskRef({ name: "any", queue: "elsewhere" }))).rejects.toThrow(
    /unknown definition/,
  );
});

test("`onUnknownKind` takes two words", () => {
  expect(() => defineQueue({ name: "x", onUnknownKind: "drop" as "keep" })).toThrow(
    /onUnknownKind: expected refuse or keep \(drop\)/,
  );
});
