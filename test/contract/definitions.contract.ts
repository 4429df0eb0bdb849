import { describe, expect, test } from "@jest/globals";
import type { DefinitionSettings, RegisterDefinitionInput } from "../../shared/ports/task-store";
import {
  at,
  define,
  defaultSettings,
  enqueue,
  only,
  operationId,
  registration,
  setLimit,
  startInput,
  startWorker,
  statusOf,
  uniqueName,
} from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";

/** What the code says of a definition, and what an operator says over it. */
export function describeDefinitions(setup: StoreSetup): void {
  describe("register_definition", () => {
    describeRegistration(setup);
  });
  describe("register_definition refuses", () => {
    describeBadSettings(setup);
  });
  describe("set_limit", () => {
    describeLimit(setup);
  });
  describe("pause_definition and resume_definition", () => {
    describePause(setup);
  });
  describe("the audit of settings", () => {
    describeAudit(setup);
  });
}

function describeRegistration(setup: StoreSetup): void {
  const open = useStore(setup);

  test("a new name is created with the code's settings", async () => {
    const { store } = open();
    const input = registration({
      build: 7,
      settings: { limit: 3, leaseMs: 5_000, prefetchMax: 2 },
    });
    const answer = await store.registerDefinition(input);
    expect(answer.status).toBe("created");
    expect(await statusOf(store, input.name)).toMatchObject({
      limit: 3,
      codeLimit: 3,
      limitSource: "code",
      leaseMs: 5_000,
      retryAttempts: defaultSettings.retryAttempts,
      lostMax: defaultSettings.lostMax,
      prefetchMax: 2,
      build: 7,
      paused: false,
      held: 0,
    });
  });

  test("the same name, build and hash again is `exists` and changes nothing", async () => {
    const { store } = open();
    const input = registration();
    const first = await store.registerDefinition(input);
    const second = await store.registerDefinition({
      ...input,
      settings: { ...input.settings, limit: 9 },
    });
    expect(second).toEqual({ status: "exists", taskDefinitionId: first.taskDefinitionId });
    expect((await statusOf(store, input.name)).limit).toBe(defaultSettings.limit);
  });

  test("a newer build with other settings updates them", async () => {
    const { store } = open();
    const input = registration();
    await store.registerDefinition(input);
    const newer = { ...input, build: 2, settingsHash: "hash-2" };
    const answer = await store.registerDefinition({
      ...newer,
      settings: { ...input.settings, limit: 2, retryAttempts: 9 },
    });
    expect(answer.status).toBe("updated");
    expect(await statusOf(store, input.name)).toMatchObject({
      limit: 2,
      codeLimit: 2,
      retryAttempts: 9,
      build: 2,
    });
  });

  test("the same build with another hash updates the settings", async () => {
    const { store } = open();
    const input = registration();
    await store.registerDefinition(input);
    const changed = { ...input, settingsHash: "other", settings: { ...input.settings, limit: 1 } };
    expect((await store.registerDefinition(changed)).status).toBe("updated");
    expect((await statusOf(store, input.name)).limit).toBe(1);
  });

  test("an older build changes nothing and hears `outdated`", async () => {
    const { store } = open();
    const input = registration({ build: 5 });
    await store.registerDefinition(input);
    const before = await statusOf(store, input.name);
    const older = {
      ...input,
      build: 4,
      settingsHash: "older",
      settings: { ...input.settings, limit: 1 },
    };
    expect((await store.registerDefinition(older)).status).toBe("outdated");
    expect(await statusOf(store, input.name)).toEqual(before);
  });

  test("names are compared exactly: case, accents and emoji make another definition", async () => {
    const { store } = open();
    const base = uniqueName();
    const names = [
      `${base}-a`,
      `${base}-A`,
      `${base}-\u00e4`,
      `${base}-a\u0308`,
      `${base}-\u{1f680}`,
    ];
    for (const name of names) {
      expect((await store.registerDefinition(registration({ name }))).status).toBe("created");
    }
    for (const name of names) expect((await statusOf(store, name)).name).toBe(name);
  });

  test("ten first registrations at once make one row (S0.18)", async () => {
    const { store } = open();
    const input = registration();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => store.registerDefinition(input)),
    );
    expect(new Set(answers.map((answer) => answer.taskDefinitionId)).size).toBe(1);
    expect(answers.filter((answer) => answer.status === "created")).toHaveLength(1);
    expect((await store.listDefinitions({ name: input.name })).definitions).toHaveLength(1);
  });

  test("ten first starts at once find the one definition and never exceed its limit (S0.18)", async () => {
    const { store } = open();
    const name = await define(store, { limit: 3 });
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => store.startExecution(startInput(name))),
    );
    expect(answers.filter((answer) => answer.status === "started")).toHaveLength(3);
    expect(answers.filter((answer) => answer.status === "limited")).toHaveLength(7);
  });
}

/** One bad value per row; the rest is right. */
const badSettings: { field: keyof DefinitionSettings; values: number[] }[] = [
  { field: "limit", values: [-2, 1_001] },
  { field: "leaseMs", values: [0, 999, 86_400_001] },
  { field: "retryAttempts", values: [-1, 0, 1_001, 40_000] },
  { field: "lostMax", values: [-1, 1_001, 40_000] },
  { field: "retryBaseMs", values: [-1, 86_400_001] },
  { field: "retryCapMs", values: [999] },
  { field: "prefetchMax", values: [-1, 1_001, 40_000] },
  { field: "groupSlots", values: [0, -1, 1_001, 40_000] },
  { field: "retainDoneMs", values: [-1, 3_153_600_000_001] },
  { field: "retainDeadMs", values: [-1, 3_153_600_000_001] },
];

const goodSettings: { field: keyof DefinitionSettings; values: (number | null)[] }[] = [
  { field: "limit", values: [null, 0, 1, 1_000] },
  { field: "leaseMs", values: [1_000, 86_400_000] },
  { field: "retryAttempts", values: [1, 1_000] },
  { field: "lostMax", values: [0, 1_000] },
  { field: "retryBaseMs", values: [0, 300_000] },
  { field: "retryCapMs", values: [1_000, 2_147_483_647] },
  { field: "prefetchMax", values: [0, 1_000] },
  { field: "groupSlots", values: [1, 1_000] },
  { field: "retainDoneMs", values: [0, 3_153_600_000_000] },
  { field: "retainDeadMs", values: [0, 3_153_600_000_000] },
];

const badNames: { why: string; name: string }[] = [
  { why: "an empty name", name: "" },
  { why: "a name of 201 characters", name: "n".repeat(201) },
  { why: "a blank in front", name: " name" },
  { why: "a blank at the end", name: "name " },
];

function describeBadSettings(setup: StoreSetup): void {
  const open = useStore(setup);

  for (const { field, values } of badSettings) {
    test(`register_definition refuses ${field} outside its range, naming field and value, and creates nothing`, async () => {
      const { store } = open();
      for (const value of values) {
        const input = registration({ settings: { [field]: value } });
        await expectError(store.registerDefinition(input), {
          code: "TASKGATE_ARG_INVALID",
          field,
          value,
        });
        expect((await store.listDefinitions({ name: input.name })).definitions).toEqual([]);
      }
    });
  }

  test("register_definition refuses no setting at the ends of its range", async () => {
    const { store } = open();
    for (const { field, values } of goodSettings) {
      for (const value of values) {
        const input = registration({ settings: { [field]: value } });
        expect((await store.registerDefinition(input)).status).toBe("created");
      }
    }
  });

  test("register_definition refuses a bad name, naming it", async () => {
    const { store } = open();
    for (const { name } of badNames) {
      await expectError(store.registerDefinition(registration({ name })), {
        code: "TASKGATE_ARG_INVALID",
        field: "name",
        value: name,
      });
    }
  });

  test("register_definition refuses no name of 200 characters", async () => {
    const { store } = open();
    const name = uniqueName().padEnd(200, "n");
    expect((await store.registerDefinition(registration({ name }))).status).toBe("created");
    expect((await statusOf(store, name)).name).toBe(name);
  });

  test("U+0000 and lone surrogates in a name: neither is stored as something else", async () => {
    const { store } = open();
    for (const name of ["a\u0000b", "a\ud800b", "a\udc00b"]) {
      await expectError(store.registerDefinition(registration({ name })), {
        code: "TASKGATE_ARG_INVALID",
      });
    }
    expect((await store.listDefinitions({})).definitions).toEqual([]);
  });

  const badIdentities: { field: keyof RegisterDefinitionInput; value: number | string }[] = [
    { field: "build", value: -1 },
    { field: "settingsHash", value: "" },
    { field: "settingsHash", value: "h".repeat(65) },
  ];
  test("a negative build, and a hash that is empty or longer than 64 characters", async () => {
    const { store } = open();
    for (const { field, value } of badIdentities) {
      await expectError(store.registerDefinition(registration({ [field]: value })), {
        code: "TASKGATE_ARG_INVALID",
        field,
        value,
      });
    }
    const longest = registration({ settingsHash: "h".repeat(64) });
    expect((await store.registerDefinition(longest)).status).toBe("created");
  });
}

function describeLimit(setup: StoreSetup): void {
  const open = useStore(setup);

  test("the override of set_limit beats code, tells old and new, and `code` takes it away", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    expect(await setLimit(store, name, 2)).toEqual({
      status: "set",
      oldLimit: 4,
      newLimit: 2,
      held: 0,
      overLimit: 0,
      ready: false,
    });
    expect(await statusOf(store, name)).toMatchObject({
      limit: 2,
      limitSource: "operator",
      codeLimit: 4,
    });
    expect(await setLimit(store, name, null)).toMatchObject({ oldLimit: 2, newLimit: null });
    expect(await setLimit(store, name, 0)).toMatchObject({ oldLimit: null, newLimit: 0 });
    expect(await setLimit(store, name, "code")).toMatchObject({ oldLimit: 0, newLimit: 4 });
    expect(await statusOf(store, name)).toMatchObject({ limit: 4, limitSource: "code" });
  });

  test("a registration leaves the operator's limit alone", async () => {
    const { store } = open();
    const input = registration();
    await store.registerDefinition(input);
    await setLimit(store, input.name, 1);
    const newer = { ...input, build: 2, settings: { ...input.settings, limit: 50 } };
    await store.registerDefinition(newer);
    expect(await statusOf(store, input.name)).toMatchObject({
      limit: 1,
      limitSource: "operator",
      codeLimit: 50,
    });
    expect(await setLimit(store, input.name, "code")).toMatchObject({ oldLimit: 1, newLimit: 50 });
  });

  test("set_limit tells the held tokens, those above the new limit, and whether tasks wait", async () => {
    const { store } = open();
    const name = await define(store, { limit: 5 });
    await startWorker(store, name, { want: 4 });
    await enqueue(store, name, 1);
    expect(await setLimit(store, name, 1)).toMatchObject({ held: 4, overLimit: 3, ready: true });
    expect(await setLimit(store, name, 0)).toMatchObject({ held: 4, overLimit: 4 });
    expect(await setLimit(store, name, null)).toMatchObject({ held: 4, overLimit: 0 });
  });

  test("a repeat of an operation id gives the first answer and changes nothing", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const input = { name, limit: 2, operationId: operationId(), changedBy: "an operator" };
    const first = await store.setLimit(input);
    await setLimit(store, name, 7);
    expect(await store.setLimit(input)).toEqual(first);
    expect((await statusOf(store, name)).limit).toBe(7);
  });

  test("an operation id of an enqueue is refused, and the other way round; nothing changes", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const ids = [operationId(), operationId()] as const;
    const tasks = [{ payload: null }];
    await store.enqueueTasks({ name, build: 1, operationId: ids[0], tasks });
    await store.setLimit({ name, limit: 3, operationId: ids[1], changedBy: "an operator" });
    await expectError(
      store.setLimit({ name, limit: 2, operationId: ids[0], changedBy: "an operator" }),
      { code: "TASKGATE_ARG_CONFLICT", field: "operationId", value: ids[0] },
    );
    await expectError(store.enqueueTasks({ name, build: 1, operationId: ids[1], tasks }), {
      code: "TASKGATE_ARG_CONFLICT",
      field: "operationId",
      value: ids[1],
    });
    expect(await statusOf(store, name)).toMatchObject({ limit: 3, ready: 1 });
  });

  test("ten repeats of an operation id at once make one change and get equal answers", async () => {
    const { store } = open();
    const name = await define(store, { limit: 4 });
    const input = { name, limit: 2, operationId: operationId(), changedBy: "an operator" };
    const answers = await Promise.all(Array.from({ length: 10 }, () => store.setLimit(input)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(at(answers, 0)).toMatchObject({ oldLimit: 4, newLimit: 2 });
  });

  test("set_limit refuses a limit out of range and an unknown name, naming them", async () => {
    const { store } = open();
    const name = await define(store);
    for (const limit of [-2, 1_001]) {
      await expectError(setLimit(store, name, limit), {
        code: "TASKGATE_ARG_INVALID",
        field: "limit",
        value: limit,
      });
    }
    await expectError(setLimit(store, "nobody", 1), {
      code: "TASKGATE_ARG_UNKNOWN",
      field: "name",
      value: "nobody",
    });
    expect(await setLimit(store, name, 1_000)).toMatchObject({ newLimit: 1_000 });
  });
}

function describePause(setup: StoreSetup): void {
  const open = useStore(setup);

  test("pause_definition and resume_definition are idempotent by value, and tell whether tasks wait", async () => {
    const { store } = open();
    const name = await define(store);
    const input = { name, changedBy: "an operator", reason: "deploy" };
    expect(await store.resumeDefinition(input)).toEqual({ status: "exists", ready: false });
    expect(await store.pauseDefinition(input)).toEqual({ status: "paused", ready: false });
    expect((await statusOf(store, name)).paused).toBe(true);
    await enqueue(store, name, 1);
    expect(await store.pauseDefinition(input)).toEqual({ status: "exists", ready: true });
    expect(await store.resumeDefinition(input)).toEqual({ status: "resumed", ready: true });
    expect(await store.resumeDefinition(input)).toEqual({ status: "exists", ready: true });
    expect((await statusOf(store, name)).paused).toBe(false);
  });

  test("a paused definition starts no execution; a running one keeps its tokens", async () => {
    const { store } = open();
    const name = await define(store);
    const worker = await startWorker(store, name, { want: 2 });
    await store.pauseDefinition({ name, changedBy: "an operator" });
    expect(await store.startExecution(startInput(name))).toMatchObject({
      status: "paused",
      executionId: null,
      tokens: 0,
    });
    expect((await statusOf(store, name)).held).toBe(2);
    await store.resumeDefinition({ name, changedBy: "an operator" });
    expect((await store.startExecution(startInput(name))).status).toBe("started");
    expect((await worker.finish()).tokensFreed).toBe(2);
  });

  test("a registration doesn't take a pause away", async () => {
    const { store } = open();
    const input = registration();
    await store.registerDefinition(input);
    await store.pauseDefinition({ name: input.name, changedBy: "an operator" });
    await store.registerDefinition({ ...input, build: 2 });
    expect((await statusOf(store, input.name)).paused).toBe(true);
  });

  test("pause_definition and resume_definition refuse an unknown name, naming it", async () => {
    const { store } = open();
    const input = { name: "nobody", changedBy: "an operator" };
    const expected = { code: "TASKGATE_ARG_UNKNOWN", field: "name", value: "nobody" } as const;
    await expectError(store.pauseDefinition(input), expected);
    await expectError(store.resumeDefinition(input), expected);
  });
}

function describeAudit(setup: StoreSetup): void {
  const open = useStore(setup);
  const auditTest = testWith(setup, "audit");

  auditTest("each changed setting of the code has one entry with its source", async () => {
    const { store, readAudit } = bound(open());
    const input = registration();
    await store.registerDefinition(input);
    await store.registerDefinition(input);
    const settings = { ...input.settings, limit: 6, leaseMs: 70_000 };
    const longest = "b".repeat(200);
    await store.registerDefinition({ ...input, build: 2, registeredBy: longest, settings });
    await store.registerDefinition({ ...input, build: 1, settingsHash: "older" });
    const entries = await readAudit(input.name);
    expect(
      entries
        .map((entry) => `${entry.setting}: ${String(entry.oldValue)} -> ${String(entry.newValue)}`)
        .sort(),
    ).toEqual(["build: 1 -> 2", "lease_ms: 60000 -> 70000", "limit: 4 -> 6", "limit: null -> 4"]);
    expect(new Set(entries.map((entry) => `${entry.source} ${entry.changedBy}`))).toEqual(
      new Set(["code the code", `code ${longest}`]),
    );
  });

  auditTest(
    "each change of an operator has one entry with actor and reason, each repeat none",
    async () => {
      const { store, readAudit } = bound(open());
      const name = await define(store);
      const change = {
        name,
        limit: 2,
        operationId: operationId(),
        changedBy: "ann",
        reason: "busy",
      };
      await store.setLimit(change);
      await store.setLimit(change);
      await store.setLimit({ name, limit: "code", operationId: operationId(), changedBy: "bob" });
      await store.pauseDefinition({ name, changedBy: "cyd", reason: "deploy" });
      await store.pauseDefinition({ name, changedBy: "dan" });
      await store.resumeDefinition({ name, changedBy: "eve" });
      const entries = (await readAudit(name)).filter((entry) => entry.source === "operator");
      expect(entries).toEqual([
        {
          setting: "limit_override",
          oldValue: null,
          newValue: "2",
          source: "operator",
          changedBy: "ann",
          reason: "busy",
        },
        {
          setting: "limit_override",
          oldValue: "2",
          newValue: null,
          source: "operator",
          changedBy: "bob",
          reason: null,
        },
        {
          setting: "paused",
          oldValue: "false",
          newValue: "true",
          source: "operator",
          changedBy: "cyd",
          reason: "deploy",
        },
        {
          setting: "paused",
          oldValue: "true",
          newValue: "false",
          source: "operator",
          changedBy: "eve",
          reason: null,
        },
      ]);
      expect(only(entries.filter((entry) => entry.changedBy === "eve")).reason).toBeNull();
    },
  );
}

/** A store with its reader of the audit, ready to be taken apart. */
function bound(opened: ReturnType<ReturnType<typeof useStore>>) {
  return { store: opened.store, readAudit: (name: string) => opened.readAudit(name) };
}
