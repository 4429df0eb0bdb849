import { describe, expect, test } from "@jest/globals";
import type { AppAddress, AppStatus, TaskStore } from "../../shared/ports/task-store";
import { define, uniqueName } from "../support/builders";
import { expectError } from "../support/expect-error";
import { testWith, useStore } from "../support/store-setup";
import type { StoreSetup } from "../support/store-setup";
import { inDialect } from "./two-dialects";

const address: AppAddress = {
  queueUri: "https://orders.queue.core.windows.net",
  queue: "taskgate-hints",
  encoding: "base64",
  sweepSchedule: "*/30 * * * * *",
};

/** Several apps on one database: what belongs to which. */
export function describeApps(setup: StoreSetup): void {
  describe("register_app", () => {
    describeRegistration(setup);
  });
  describe("set_definition_owner", () => {
    describeHandOver(setup);
  });
  describe("list_apps", () => {
    describeList(setup);
  });
}

async function appNamed(store: TaskStore, app: string): Promise<AppStatus | undefined> {
  return (await store.listApps()).apps.find((status) => status.app === app);
}

function describeRegistration(setup: StoreSetup): void {
  const open = useStore(setup);

  test("register_app keeps the definitions and the address, and a repeat says that they exist", async () => {
    const { store } = open();
    const [app, a, b] = [uniqueName("app"), uniqueName("a"), uniqueName("b")];
    const input = { app, definitions: [b, a, b], address };
    expect(await store.registerApp(input)).toEqual({ status: "registered", refused: [] });
    expect(await store.registerApp(input)).toEqual({ status: "exists", refused: [] });
    expect(await appNamed(store, app)).toEqual({ app, address, definitions: [a, b] });
  });

  test("register_app names the definitions of other apps with their owners, and takes the rest", async () => {
    const { store } = open();
    const [first, second] = [uniqueName("app"), uniqueName("app")];
    const [a, b, c] = [uniqueName("a"), uniqueName("b"), uniqueName("c")];
    await store.registerApp({ app: first, definitions: [b, a], address });
    const refused = [a, b].map((name) => ({ name, app: first }));
    const input = { app: second, definitions: [c, b, a], address: null };
    expect(await store.registerApp(input)).toEqual({ status: "registered", refused });
    expect(await store.registerApp(input)).toEqual({ status: "exists", refused });
    expect(await appNamed(store, first)).toEqual({ app: first, address, definitions: [a, b] });
    expect(await appNamed(store, second)).toEqual({ app: second, address: null, definitions: [c] });
  });

  testWith(setup, "raw sql")(
    "register_app keeps the instant of the last change of an address for people who look at the table",
    async () => {
      const opened = open();
      const app = uniqueName("app");
      await opened.store.registerApp({ app, definitions: [], address: null });
      await opened.advance(600_000);
      const dialect = setup.dialect === "mssql" ? "mssql" : "postgres";
      const sql = "SELECT name FROM taskgate.app WHERE registered_at > {minuteAgo}";
      const changed = (): Promise<unknown[]> => opened.raw(inDialect(dialect, sql, new Map()));
      expect(await changed()).toEqual([]);
      await opened.store.registerApp({ app, definitions: [], address });
      expect(await changed()).toHaveLength(1);
    },
  );

  test("register_app gives a definition to one of ten apps that register it at once", async () => {
    const { store } = open();
    const name = uniqueName();
    const apps = Array.from({ length: 10 }, () => uniqueName("app"));
    const answers = await Promise.all(
      apps.map((app) => store.registerApp({ app, definitions: [name], address })),
    );
    const owners = apps.filter((_, index) => answers[index]?.refused.length === 0);
    expect(owners).toHaveLength(1);
    const refused = [{ name, app: owners[0] }];
    expect(answers.filter((answer) => answer.refused.length > 0)).toEqual(
      Array.from({ length: 9 }, () => ({ status: "registered", refused })),
    );
  });

  test("register_app takes a new address, a lost one, and further definitions", async () => {
    const { store } = open();
    const [app, a, b] = [uniqueName("app"), uniqueName("a"), uniqueName("b")];
    await store.registerApp({ app, definitions: [a], address });
    const moved = { ...address, queue: "other-hints" };
    for (const [definitions, to] of [
      [[a], moved],
      [[a], null],
      [[b], null],
      [[b], address],
    ] as const) {
      const input = { app, definitions, address: to };
      expect(await store.registerApp(input)).toEqual({ status: "registered", refused: [] });
      expect(await store.registerApp(input)).toMatchObject({ status: "exists" });
      expect((await appNamed(store, app))?.address).toEqual(to);
    }
    expect((await appNamed(store, app))?.definitions).toEqual([a, b]);
  });

  test("register_app takes an address of 2,000 characters, and refuses a longer one", async () => {
    const { store } = open();
    const input = { app: uniqueName("app"), definitions: [] };
    const rest = JSON.stringify({ ...address, queueUri: "" }).length;
    const longest = { ...address, queueUri: "x".repeat(2_000 - rest) };
    await store.registerApp({ ...input, address: longest });
    expect((await appNamed(store, input.app))?.address).toEqual(longest);
    const longer = { ...longest, queueUri: `${longest.queueUri}x` };
    const refused = store.registerApp({ ...input, address: longer });
    await expectError(refused, { code: "TASKGATE_ARG_INVALID", field: "address", value: 2_001 });
  });

  test("register_app tells names that differ in their case apart", async () => {
    const { store } = open();
    const [app, name] = [uniqueName("app"), uniqueName("demo")];
    await store.registerApp({ app, definitions: [name], address: null });
    const input = { app: app.toUpperCase(), definitions: [name.toUpperCase()], address: null };
    expect(await store.registerApp(input)).toEqual({ status: "registered", refused: [] });
    const other = { app: app.toUpperCase(), definitions: [name], address: null };
    expect((await store.registerApp(other)).refused).toEqual([{ name, app }]);
  });

  test("register_app takes an app without definitions, and 1,000 with quotes in their names", async () => {
    const { store } = open();
    const app = uniqueName('app "x"');
    await store.registerApp({ app, definitions: [], address: null });
    expect(await appNamed(store, app)).toEqual({ app, address: null, definitions: [] });
    const definitions = Array.from({ length: 1_000 }, () => uniqueName('a\\"é'));
    await store.registerApp({ app, definitions, address: null });
    expect((await appNamed(store, app))?.definitions).toEqual([...definitions].sort());
  });

  test("register_app refuses bad names, and more than 1,000 of them", async () => {
    const { store } = open();
    const code = "TASKGATE_ARG_INVALID";
    for (const bad of ["", " app", "app ", "x".repeat(201), "\u0000"]) {
      const app = store.registerApp({ app: bad, definitions: [], address: null });
      await expectError(app, { code, field: "app" });
      const named = store.registerApp({ app: "app", definitions: ["a", bad], address: null });
      await expectError(named, { code, field: "definitions" });
    }
    const definitions = Array.from({ length: 1_001 }, (_, index) => `n${String(index)}`);
    const all = store.registerApp({ app: "app", definitions, address: null });
    await expectError(all, { code, field: "definitions", value: 1_001 });
    expect((await store.listApps()).apps).toEqual([]);
  });
}

function describeHandOver(setup: StoreSetup): void {
  const open = useStore(setup);

  test("set_definition_owner lets the new app register the definition, and the old one no more", async () => {
    const { store } = open();
    const [from, to] = [uniqueName("app"), uniqueName("app")];
    const name = await define(store);
    await store.registerApp({ app: from, definitions: [name], address });
    const input = { name, app: to, changedBy: "an operator" };
    expect(await store.setDefinitionOwner(input)).toEqual({
      status: "set",
      oldApp: from,
      newApp: to,
    });
    expect(await store.setDefinitionOwner(input)).toEqual({
      status: "exists",
      oldApp: to,
      newApp: to,
    });
    expect(await appNamed(store, to)).toEqual({ app: to, address: null, definitions: [name] });
    const old = await store.registerApp({ app: from, definitions: [name], address });
    expect(old).toEqual({ status: "exists", refused: [{ name, app: to }] });
    const now = await store.registerApp({ app: to, definitions: [name], address });
    expect(now).toEqual({ status: "registered", refused: [] });
  });

  test("set_definition_owner releases a definition, and the next app that registers it has it", async () => {
    const { store } = open();
    const [from, to] = [uniqueName("app"), uniqueName("app")];
    const name = await define(store);
    const release = { name, app: null, changedBy: "an operator" };
    expect(await store.setDefinitionOwner(release)).toEqual({
      status: "exists",
      oldApp: null,
      newApp: null,
    });
    await store.registerApp({ app: from, definitions: [name], address });
    expect(await store.setDefinitionOwner(release)).toEqual({
      status: "set",
      oldApp: from,
      newApp: null,
    });
    const next = await store.registerApp({ app: to, definitions: [name], address });
    expect(next).toEqual({ status: "registered", refused: [] });
  });

  testWith(setup, "audit")(
    "ten calls of set_definition_owner at once follow each other in the audit",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const apps = Array.from({ length: 10 }, (_, index) => `app-${String(index)}`);
      await Promise.all(
        apps.map((app) => store.setDefinitionOwner({ name, app, changedBy: "an operator" })),
      );
      const entries = (await opened.readAudit(name)).filter(({ setting }) => setting === "owner");
      expect(entries.map(({ newValue }) => newValue).sort()).toEqual(apps);
      expect(entries.map(({ oldValue }) => oldValue)).toEqual([
        null,
        ...entries.slice(0, -1).map(({ newValue }) => newValue),
      ]);
      expect(await appNamed(store, entries.at(-1)?.newValue ?? "")).toMatchObject({
        definitions: [name],
      });
    },
  );

  testWith(setup, "audit")(
    "a hand-over of a definition is audited once, with both apps, the actor and the reason",
    async () => {
      const opened = open();
      const { store } = opened;
      const name = await define(store);
      const change = { name, app: "billing", changedBy: "an operator", reason: "moved" };
      await store.setDefinitionOwner(change);
      await store.setDefinitionOwner(change);
      const entries = (await opened.readAudit(name)).filter(({ setting }) => setting === "owner");
      expect(entries).toEqual([
        {
          setting: "owner",
          oldValue: null,
          newValue: "billing",
          source: "operator",
          changedBy: "an operator",
          reason: "moved",
        },
      ]);
    },
  );

  test("set_definition_owner refuses unknown definitions and bad names", async () => {
    const { store } = open();
    const name = await define(store);
    const changedBy = "an operator";
    const unknown = store.setDefinitionOwner({ name: "none", app: "billing", changedBy });
    await expectError(unknown, { code: "TASKGATE_ARG_UNKNOWN", field: "name", value: "none" });
    for (const app of ["", " billing", "x".repeat(201)]) {
      const bad = store.setDefinitionOwner({ name, app, changedBy });
      await expectError(bad, { code: "TASKGATE_ARG_INVALID", field: "app" });
    }
  });
}

function describeList(setup: StoreSetup): void {
  const open = useStore(setup);

  test("list_apps is empty at first, and in the order of names later", async () => {
    const { store } = open();
    expect(await store.listApps()).toEqual({ apps: [] });
    const name = await define(store);
    await store.registerApp({ app: "b", definitions: ["z", "Z", "a"], address });
    await store.registerApp({ app: "a", definitions: [], address: null });
    await store.setDefinitionOwner({ name, app: "C", changedBy: "an operator" });
    expect(await store.listApps()).toEqual({
      apps: [
        { app: "C", address: null, definitions: [name] },
        { app: "a", address: null, definitions: [] },
        { app: "b", address, definitions: ["Z", "a", "z"] },
      ],
    });
  });
}
