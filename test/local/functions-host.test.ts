/**
 * The local Functions host, in real processes with the real library and a real Azurite.
 * Method: the fixture app reports what happens and waits at gates; nothing sleeps.
 */
import { describe, expect, test } from "@jest/globals";
import { messageCount, poll, setup, startHost, useHosts } from "./fixtures/host-setup";

useHosts();

describe("start", () => {
  test("all files of main are loaded and functions with unknown triggers are skipped aloud", async () => {
    const { host } = await setup();
    const ready = await host.of("ready");
    expect(ready.functions).toEqual(
      expect.arrayContaining(["work", "manual", "echo", "numbered-item"]),
    );
    expect(ready.functions).not.toContain("elsewhere");
    expect(ready.skipped).toEqual(["elsewhere"]);
    expect(host.eventNames("appStart")).toEqual(["appStart"]);
    expect(host.reports).toContainEqual(
      expect.objectContaining({ level: "warning", text: expect.stringContaining("elsewhere") }),
    );
  });

  test("a missing setting is named together with its function", async () => {
    const host = startHost({ env: { WORK_QUEUE: "any", AzureWebJobsStorage: "" } });
    const { message } = await host.of("failed");
    expect(message).toMatch(/^Function work cannot start\. .*set AzureWebJobsStorage/);
    await host.exit();
  });

  test("a port in use is named", async () => {
    const { url } = await setup();
    const second = startHost({ port: Number(new URL(url).port), env: { RESULT_QUEUE: "any" } });
    const { message } = await second.of("failed");
    expect(message).toContain(`Port ${new URL(url).port} on 127.0.0.1 is in use`);
    await second.exit();
  });
});

describe("loading", () => {
  async function failureOf(app: string): Promise<string> {
    const host = startHost({ app, env: {} });
    const { message } = await host.of("failed");
    await host.exit();
    return message;
  }

  test("an app of ES modules runs as well", async () => {
    const { url } = await setup({ app: "esm-app" });
    expect(await (await fetch(`${url}/hello`)).text()).toBe("from a module");
  });

  test("an app that throws while it loads fails the start with its own error, its file and line", async () => {
    expect(await failureOf("throwing-app")).toBe("index.js:2: thrown while loading");
  });

  test("an app that was not built says so", async () => {
    expect(await failureOf("unbuilt-app")).toMatch(/"main": "dist\/index\.js".* Run the build\.$/);
  });

  test("a route that Azure's host keeps for itself is refused, although the prefix api stands before it", async () => {
    expect(await failureOf("reserved-app")).toContain(
      'The route "administrators/teams" begins with "admin" or "runtime"',
    );
  });

  test("a wrong value in host.json is named", async () => {
    expect(await failureOf("wrong-app")).toMatch(
      /host\.json: expected `extensions\.queues\.batchSize` to be an integer in 1\.\.32, got 33\.$/,
    );
  });
});

describe("stop", () => {
  test("running invocations are waited for and answered, then the hooks run in order", async () => {
    const { host, url, work, send } = await setup();
    const answer = fetch(`${url}/api/slow`).then((response) => response.text());
    await send({ taskId: "t5", action: "wait" });
    await host.events("work");
    await host.events("slow");
    host.send({ kind: "stop" });
    // No new work: the port is closed before anything else happens.
    await poll(async () => {
      const open = await fetch(`${url}/api/pages`).then(
        (response) => response.status !== 503,
        () => false,
      );
      return open ? undefined : true;
    });
    expect(host.eventNames("appTerminate", "worked")).toEqual([]);
    host.send({ kind: "open", gate: "slow" });
    host.send({ kind: "open", gate: "t5" });
    expect(await answer).toBe("slow but sure");
    await host.of("stopped");
    expect(host.eventNames("appTerminate", "worked")).toEqual([
      "worked",
      "appTerminate",
      "appTerminate",
    ]);
    const [first] = await host.events("appTerminate");
    expect(first["startedBy"]).toBe("appStart");
    expect(await messageCount(work)).toBe(0);
    await host.exit();
    expect(host.process.exitCode).toBe(0);
  });

  test("an invocation that ends because of a hook still completes its message", async () => {
    const { host, work, send } = await setup({ limits: { drainMs: 100 } });
    await send({ taskId: "t6", action: "until-terminate" });
    await host.events("work");
    host.process.kill("SIGTERM");
    await host.of("stopped");
    expect(host.eventNames("worked", "appTerminate")).toEqual([
      "appTerminate",
      "appTerminate",
      "worked",
    ]);
    expect(await messageCount(work)).toBe(0);
    expect(host.reports).not.toContainEqual(
      expect.objectContaining({ text: expect.stringContaining("is lost") }),
    );
  });

  test("the drain and hooks are bounded, and what still runs is said to be lost", async () => {
    const { host, work, send } = await setup({
      limits: { drainMs: 100, terminateMs: 100 },
      env: { TERMINATE_GATE: "never" },
    });
    await send({ taskId: "t7", action: "wait" });
    await host.events("work");
    host.send({ kind: "stop" });
    await host.of("stopped");
    expect(host.reports).toContainEqual(
      expect.objectContaining({ text: "The appTerminate hooks took longer than 100 ms." }),
    );
    expect(host.reports).toContainEqual(
      expect.objectContaining({
        text: expect.stringContaining("with 1 invocations running"),
      }),
    );
    // Its message stays hidden for the rest of its lease, as after a crash on Azure.
    expect(await messageCount(work)).toBe(1);
    expect((await work.peekMessages()).peekedMessageItems).toEqual([]);
  });
});
