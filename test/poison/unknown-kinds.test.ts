import { expect, test } from "@jest/globals";
import { createAdmin } from "../../shared/admin/create-admin";
import { completeTasks } from "../../shared/worker/complete-tasks";
import { defineDefinition, defineTask } from "../../shared/worker/define-task";
import { createRegistry } from "../../shared/worker/registry";
import { openWorkerBench } from "../unit/worker/worker-bench";

const refusing = defineDefinition({ name: "mail" });
const keeping = defineDefinition({ name: "mixed", onUnknownKind: "keep" });
const nothing = async () => undefined;
const kinds = [
  defineTask({ name: "send-mail", definition: refusing, run: nothing }),
  defineTask({ name: "read-mail", definition: refusing, run: nothing }),
  defineTask({ name: "known", definition: keeping, run: nothing }),
];

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
    build: 1,
    completeTasks: (call, rows) => completeTasks(registry, call, rows),
  });
  await client.enqueue([
    { task: "send-mail", definition: "mail" },
    { task: "known", definition: "mixed" },
  ]);
  return { admin, client, bench };
}

test("the client refuses a kind that its definition doesn't have, with the near name", async () => {
  const { client } = await open();
  await expect(client.enqueue({ task: "send-mial", definition: "mail" })).rejects.toThrow(refusal);
});

test("HTTP and command line refuse it and name the task of a list", async () => {
  const { admin } = await open();
  const tasks = [
    { payload: null, kind: "read-mail" },
    { payload: null, kind: "send-mial" },
  ];
  await expect(admin.enqueue({ definition: "mail", tasks })).rejects.toThrow(
    /^tasks\[1\]\.kind: expected one of definition mail's kinds/,
  );
  // The definition's own name is no kind where kinds share it.
  await expect(admin.enqueue({ definition: "mail", tasks: [{ payload: null }] })).rejects.toThrow(
    /^kind: .*\(mail\)/,
  );
});

test("a caller may say that the kind is other code's, and so may the definition", async () => {
  const { admin, client } = await open();
  const tasks = [{ payload: null, kind: "send-mial" }];
  const told = await admin.enqueue({ definition: "mail", tasks, allowsUnknownKind: true });
  expect(told.enqueued).toBe(1);
  expect((await admin.enqueue({ definition: "mixed", tasks })).enqueued).toBe(1);
  await expect(client.enqueue({ task: "later", definition: "mixed" })).resolves.toHaveLength(1);
});

test("a handler's child of an unknown kind fails its task with the near name", async () => {
  const parent = defineTask({
    name: "parent",
    definition: refusing,
    retry: { attempts: 1 },
    run: async (_, ctx) => ctx.enqueue({ task: "send-mial", definition: "mail" }),
  });
  const alone = {
    ...parent,
    definition: defineDefinition({ name: "parent", retry: { attempts: 1 } }),
  };
  const bench = openWorkerBench([...kinds, alone]);
  await bench.client.enqueue({ task: alone });
  await bench.work("parent");
  const { tasks } = await bench.store.listTasks({ name: "parent", state: "dead", most: 1 });
  expect(tasks[0]?.error).toMatch(refusal);
});

test("of a definition that this build doesn't have nothing is known", async () => {
  const { client } = await open();
  await expect(client.enqueue({ task: "any", definition: "elsewhere" })).rejects.toThrow(
    /unknown definition/,
  );
});

test("`onUnknownKind` takes two words", () => {
  expect(() => defineDefinition({ name: "x", onUnknownKind: "drop" as "keep" })).toThrow(
    /onUnknownKind: expected refuse or keep \(drop\)/,
  );
});
