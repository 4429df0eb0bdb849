import { beforeEach, describe, expect, test } from "@jest/globals";
import { MemoryTaskStore } from "../../../shared/testing/memory-store/memory-task-store";
import { realRandom } from "../../../shared/platform/real-clock";
import { OwnApp } from "../../../shared/worker/client/own-app";
import { define } from "../../support/builders";
import { expectError } from "../../support/expect-error";

let nowMs = 0;
let store: MemoryTaskStore;
let calls = 0;
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

function appOf(name: string, definitions: readonly string[]): OwnApp {
  const counted = {
    registerApp: (input: Parameters<MemoryTaskStore["registerApp"]>[0]) => {
      calls += 1;
      return store.registerApp(input);
    },
  };
  return new OwnApp({ name, definitions, address: null }, { store: counted, clock });
}

beforeEach(() => {
  calls = 0;
  nowMs = 0;
  store = new MemoryTaskStore({ clock: { now: () => nowMs }, random: realRandom });
});

describe("the app of a process", () => {
  test("the app of a process asks once for calls that come at once, and again after a minute", async () => {
    const app = appOf("billing", ["invoice"]);
    await Promise.all([app.require("invoice"), app.require("invoice"), app.refused()]);
    nowMs = 59_999;
    await app.require("invoice");
    expect(calls).toBe(1);
    nowMs = 60_000;
    await app.require("invoice");
    expect(calls).toBe(2);
  });

  test("the app of a process asks again when the database didn't answer", async () => {
    const app = appOf("billing", ["invoice"]);
    const { registerApp } = store;
    store.registerApp = () => Promise.reject(new Error("away"));
    await expect(app.require("invoice")).rejects.toThrow("away");
    store.registerApp = registerApp;
    await app.require("invoice");
  });

  test("the app of a process refuses a definition of another app with both names and the way out, and no other definition", async () => {
    await store.registerApp({ app: "billing", definitions: ["invoice"], address: null });
    const app = appOf("shipping", ["parcel", "invoice"]);
    await app.require("parcel");
    await app.require("unknown");
    await expectError(app.require("invoice"), { code: "TASKGATE_ARG_OWNER" });
    await expect(app.require("invoice")).rejects.toThrow(
      "definition: expected one that app shipping may run (invoice belongs to billing). Give the task another name, or hand the definition over: taskgate owner invoice shipping",
    );
  });

  test("the app of a process refuses several definitions with the command for each of them", async () => {
    const definitions = ["bill", "invoice"];
    await store.registerApp({ app: "billing", definitions, address: null });
    const app = appOf("shipping", definitions);
    expect(app.refusal(await app.refused()).message).toBe(
      "definition: expected one that app shipping may run (bill belongs to billing, invoice belongs to billing). Give the tasks other names, or hand each definition over: taskgate owner NAME shipping",
    );
  });

  test("the app of a process follows a hand-over within a minute, in both directions", async () => {
    const name = await define(store);
    const [from, to] = [appOf("billing", [name]), appOf("shipping", [name])];
    await from.require(name);
    await expectError(to.require(name), { code: "TASKGATE_ARG_OWNER" });
    await store.setDefinitionOwner({ name, app: "shipping", changedBy: "an operator" });
    nowMs = 60_000;
    await to.require(name);
    await expectError(from.require(name), { code: "TASKGATE_ARG_OWNER" });
  });

  test("the app of a process registers more definitions than one call takes", async () => {
    const definitions = Array.from({ length: 2_001 }, (_, index) => `task-${String(index)}`);
    const app = appOf("billing", definitions);
    expect((await app.refused()).size).toBe(0);
    expect(calls).toBe(3);
    expect((await store.listApps()).apps[0]?.definitions).toHaveLength(2_001);
  });
});
