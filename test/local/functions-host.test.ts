/**
 * The local Functions host, in real processes with the real library and a real Azurite.
 * Method: the fixture app reports what happens and waits at gates; nothing sleeps.
 */
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { QueueServiceClient, type QueueClient } from "@azure/storage-queue";
import { startAzurite, type Azurite } from "../../shared/local/azurite";
import { HostProcess, type HostProcessOptions } from "./fixtures/run-host";

let azurite: Azurite;
const hosts: HostProcess[] = [];

beforeAll(async () => {
  azurite = await startAzurite();
});

afterEach(() => {
  for (const host of hosts.splice(0)) host.process.kill("SIGKILL");
});

afterAll(async () => {
  await azurite.stop();
});

interface Setup {
  readonly host: HostProcess;
  readonly url: string;
  readonly work: QueueClient;
  readonly poison: QueueClient;
  readonly results: QueueClient;
  /** Puts a message into the queue `work`. */
  send(message: unknown): Promise<void>;
}

async function setup(options: Partial<HostProcessOptions> = {}): Promise<Setup> {
  const service = QueueServiceClient.fromConnectionString(azurite.connectionString);
  const id = randomUUID().slice(0, 8);
  const work = service.getQueueClient(`work-${id}`);
  const host = new HostProcess({
    ...options,
    env: {
      AzureWebJobsStorage: azurite.connectionString,
      WORK_QUEUE: work.name,
      RESULT_QUEUE: `results-${id}`,
      ...options.env,
    },
  });
  hosts.push(host);
  const { url } = await host.of("ready");
  return {
    host,
    url,
    work,
    poison: service.getQueueClient(`${work.name}-poison`),
    results: service.getQueueClient(`results-${id}`),
    async send(message) {
      await work.createIfNotExists();
      const text = typeof message === "string" ? message : JSON.stringify(message);
      await work.sendMessage(Buffer.from(text).toString("base64"));
    },
  };
}

async function poll<T>(look: () => Promise<T | undefined>): Promise<T> {
  const deadlineMs = Date.now() + 10_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadlineMs) throw new Error("Not seen within 10 s.");
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** Takes `count` messages out of a queue that may not exist yet; decoded. */
async function take(queue: QueueClient, count: number): Promise<string[]> {
  const texts: string[] = [];
  return await poll(async () => {
    if (!(await queue.exists())) return undefined;
    const { receivedMessageItems } = await queue.receiveMessages({ numberOfMessages: 32 });
    for (const { messageText } of receivedMessageItems) {
      texts.push(Buffer.from(messageText, "base64").toString());
    }
    return texts.length >= count ? texts : undefined;
  });
}

async function messageCount(queue: QueueClient): Promise<number> {
  return (await queue.getProperties()).approximateMessagesCount ?? 0;
}

async function untilEmpty(queue: QueueClient): Promise<void> {
  await poll(async () => ((await messageCount(queue)) === 0 ? true : undefined));
}

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
    const host = new HostProcess({ env: { WORK_QUEUE: "any", AzureWebJobsStorage: "" } });
    hosts.push(host);
    const { message } = await host.of("failed");
    expect(message).toMatch(/^Function work cannot start\. .*set AzureWebJobsStorage/);
    await host.exit();
  });

  test("a port in use is named", async () => {
    const { url } = await setup();
    const second = new HostProcess({
      port: Number(new URL(url).port),
      env: { AzureWebJobsStorage: azurite.connectionString, RESULT_QUEUE: "any" },
    });
    hosts.push(second);
    const { message } = await second.of("failed");
    expect(message).toContain(`Port ${new URL(url).port} on 127.0.0.1 is in use`);
    await second.exit();
  });
});

describe("loading", () => {
  async function failureOf(app: string): Promise<string> {
    const host = new HostProcess({ app, env: { AzureWebJobsStorage: azurite.connectionString } });
    hosts.push(host);
    const { message } = await host.of("failed");
    await host.exit();
    return message;
  }

  test("an app of ES modules runs as well", async () => {
    const { url } = await setup({ app: "esm-app" });
    expect(await (await fetch(`${url}/hello`)).text()).toBe("from a module");
  });

  test("an app that throws while it loads fails the start with its own error", async () => {
    expect(await failureOf("throwing-app")).toBe("thrown while loading");
  });

  test("an app that was not built says so", async () => {
    expect(await failureOf("unbuilt-app")).toMatch(/"main": "dist\/index\.js".* Run the build\.$/);
  });

  test("a wrong value in host.json is named", async () => {
    expect(await failureOf("wrong-app")).toMatch(
      /host\.json: expected `extensions\.queues\.batchSize` to be an integer in 1\.\.32, got 33\.$/,
    );
  });
});

describe("queues", () => {
  test("a message is delivered with its metadata and deleted", async () => {
    const { host, work, send } = await setup();
    await send({ taskId: "t1", dequeueCount: "hidden by the payload" });
    const [worked] = await host.events("work");
    expect(worked["message"]).toMatchObject({ taskId: "t1" });
    expect(worked["metadata"]).toMatchObject({
      taskId: "t1",
      id: expect.any(String),
      popReceipt: expect.any(String),
      insertionTime: expect.any(String),
      // The host lays the payload over the message's own members.
      dequeueCount: "hidden by the payload",
      queueTrigger: { taskId: "t1" },
    });
    await untilEmpty(work);
    expect(host.reports).toContainEqual(
      expect.objectContaining({ functionName: "work", text: "[hook] working on t1" }),
    );
  });

  test("an output binding writes one message per value", async () => {
    const { send, results } = await setup();
    await send({ taskId: "t2", action: "output" });
    const texts = await take(results, 2);
    expect(texts.sort()).toEqual(["two", JSON.stringify({ taskId: "t2", part: 1 })].sort());
  });

  test("a failing message is tried maxDequeueCount times, then moved to the poison queue", async () => {
    const { host, work, poison, send } = await setup();
    await send({ taskId: "t3", action: "fail" });
    const [first, second] = await host.events("work", 2);
    expect(first["metadata"]).toMatchObject({ dequeueCount: 1 });
    expect(second?.["metadata"]).toMatchObject({ dequeueCount: 2 });
    expect(await take(poison, 1)).toEqual([JSON.stringify({ taskId: "t3", action: "fail" })]);
    await untilEmpty(work);
    expect(host.eventNames("work")).toHaveLength(2);
  });

  test("a message that is not base64 goes to the poison queue untouched", async () => {
    const { host, work, poison } = await setup();
    await work.createIfNotExists();
    await work.sendMessage("{not base64}");
    const text = await poll(async () => {
      if (!(await poison.exists())) return undefined;
      return (await poison.peekMessages()).peekedMessageItems[0]?.messageText;
    });
    expect(text).toBe("{not base64}");
    expect(host.eventNames("work")).toEqual([]);
  });

  test("a running message is renewed, so a second host never gets it", async () => {
    // A lease of 2 s is renewed every second; the second host looks every 200 ms.
    const first = await setup({ limits: { leaseMs: 2_000 } });
    await first.send({ taskId: "t4", action: "wait" });
    await first.host.events("work");
    const second = new HostProcess({
      env: {
        AzureWebJobsStorage: azurite.connectionString,
        WORK_QUEUE: first.work.name,
        RESULT_QUEUE: first.results.name,
      },
    });
    hosts.push(second);
    await second.of("ready");
    // The proof that time has passed: another message, hidden for longer than one lease.
    const later = Buffer.from(JSON.stringify({ taskId: "later" })).toString("base64");
    await first.work.sendMessage(later, { visibilityTimeout: 3 });
    await poll(async () => {
      const worked = [first.host, second].flatMap((host) => host.eventNames("worked"));
      return await Promise.resolve(worked.length > 0 ? true : undefined);
    });
    first.host.send({ kind: "open", gate: "t4" });
    await untilEmpty(first.work);
    const seen = [...first.host.reports, ...second.reports].flatMap((report) =>
      report.kind === "event" && report.event === "work" ? [report["message"]] : [],
    );
    expect(seen).toHaveLength(2);
    expect(seen).toContainEqual(expect.objectContaining({ taskId: "t4" }));
  });

  test("no more than batchSize + newBatchThreshold messages run at a time", async () => {
    const { host, work, send } = await setup();
    const ids = ["a", "b", "c", "d", "e"];
    const visibleCount = async (): Promise<number> =>
      (await work.peekMessages({ numberOfMessages: 32 })).peekedMessageItems.length;
    for (const taskId of ids) await send({ taskId, action: "wait" });
    // One more than the threshold runs, so nothing is fetched: the others stay visible.
    const [first] = await host.events("work", 2);
    expect(await visibleCount()).toBe(3);
    // One less, and a whole batch is fetched: three run.
    host.send({ kind: "open", gate: (first["message"] as { taskId: string }).taskId });
    await host.events("work", 4);
    expect(await visibleCount()).toBe(1);
    for (const gate of ids) host.send({ kind: "open", gate });
    await host.events("worked", 5);
    await untilEmpty(work);
  });

  test("a function can be run by hand, its output binding included", async () => {
    const { host, results } = await setup();
    host.send({ kind: "invoke", name: "manual" });
    expect(await host.of("invoked")).toEqual({ kind: "invoked", failure: null });
    expect(await take(results, 1)).toEqual([JSON.stringify({ from: "manual" })]);
  });
});

describe("HTTP", () => {
  test("routes are matched by their templates, the most exact first", async () => {
    const { url } = await setup();
    const get = async (path: string): Promise<unknown> => {
      const response = await fetch(`${url}/api/${path}`);
      return response.status === 200 ? await response.json() : response.status;
    };
    expect(await get("items/12")).toEqual({ name: "numbered-item", params: { id: "12" } });
    expect(await get("items/x%20y")).toEqual({ name: "any-item", params: { name: "x y" } });
    expect(await get("ITEMS/latest")).toEqual({ name: "latest-item", params: {} });
    expect(await get("pages")).toEqual({ name: "page", params: {} });
    expect(await get("pages/3")).toEqual({ name: "page", params: { page: "3" } });
    expect(await get("files/a/b/c.txt")).toEqual({ name: "file", params: { rest: "a/b/c.txt" } });
    expect(await get("items/1/parts/ab")).toEqual({
      name: "part",
      params: { id: "1", part: "ab" },
    });
    expect(await get("items/1/parts/abcd")).toBe(404);
    expect(await get("nowhere")).toBe(404);
    expect((await fetch(`${url}/api/items/12`, { method: "DELETE" })).status).toBe(404);
  });

  test("request and response go through the library, the trace goes on", async () => {
    const { url } = await setup({ env: { GREETING: "from the settings" } });
    const traceId = "0af7651916cd43dd8448eb211c80319c";
    const response = await fetch(`${url}/api/echo?a=1&b=two`, {
      method: "PUT",
      body: "grüße",
      headers: { "x-sent": "yes", traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("x-method")).toBe("PUT");
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(response.headers.getSetCookie()).toEqual([
      "seen=a%20b; Max-Age=60; Path=/; SameSite=Lax; HttpOnly",
    ]);
    expect(await response.json()).toEqual({
      body: "grüße",
      query: { a: "1", b: "two" },
      header: "yes",
      url: `${url}/api/echo?a=1&b=two`,
      trace: expect.stringMatching(
        new RegExp(`^00-${traceId}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`),
      ),
      message: "from the settings",
    });
  });

  test("answers without content, with bytes, and of failed functions", async () => {
    const { host, url } = await setup();
    expect((await fetch(`${url}/api/empty`)).status).toBe(204);
    const binary = await fetch(`${url}/api/binary`);
    expect([...new Uint8Array(await binary.arrayBuffer())]).toEqual([0, 255, 128]);
    const broken = await fetch(`${url}/api/broken`);
    expect(broken.status).toBe(500);
    expect(await broken.text()).toBe("");
    expect(host.reports).toContainEqual(
      expect.objectContaining({ level: "error", text: expect.stringContaining("secret detail") }),
    );
    // A postInvocation hook took the error away.
    expect((await fetch(`${url}/api/forgiven`)).status).toBe(204);
    expect(await host.events("postInvocation", 4)).toContainEqual(
      expect.objectContaining({ functionName: "broken", seenBefore: true }),
    );
  });

  test("keys are asked for only when there is one", async () => {
    const open = await setup();
    expect((await fetch(`${open.url}/api/guarded`)).status).toBe(200);
    const closed = await setup({ functionKey: "k1" });
    const guarded = `${closed.url}/api/guarded`;
    expect((await fetch(guarded)).status).toBe(401);
    expect((await fetch(`${guarded}?code=wrong`)).status).toBe(401);
    expect((await fetch(`${guarded}?code=k1`)).status).toBe(200);
    expect((await fetch(guarded, { headers: { "x-functions-key": "k1" } })).status).toBe(200);
    expect((await fetch(`${closed.url}/api/pages`)).status).toBe(200);
  });
});

describe("timers", () => {
  test("a timer runs on its schedule and at the start if it says so", async () => {
    const { host } = await setup({ env: { APP_TIMERS: "1", TICK_SCHEDULE: "* * * * * *" } });
    const [startup] = await host.events("startup");
    expect(startup["timer"]).toMatchObject({
      isPastDue: false,
      schedule: { adjustForDST: true },
      scheduleStatus: { next: expect.stringMatching(/^\d{4}-01-01T00:00:00.000Z$/) },
    });
    const ticks = await host.events("tick", 3);
    for (const { timer, atMs } of ticks) {
      // Below one minute there is no monitor and so no status, as on Azure.
      expect(timer).toEqual({
        isPastDue: false,
        schedule: { adjustForDST: true },
        scheduleStatus: null,
      });
      expect(Number(atMs) % 1_000).toBeLessThan(700);
    }
  });

  test("a run that takes longer than the schedule is not overlapped", async () => {
    const env = { APP_TIMERS: "1", TICK_SCHEDULE: "* * * * * *", TICK_GATE: "tick" };
    const { host, send, work } = await setup({ env });
    await host.events("tick");
    // The proof that time has passed: a message hidden for two ticks.
    await work.createIfNotExists();
    const text = Buffer.from(JSON.stringify({ taskId: "t" })).toString("base64");
    await work.sendMessage(text, { visibilityTimeout: 2 });
    await host.events("worked");
    expect(host.eventNames("tick")).toHaveLength(1);
    host.send({ kind: "open", gate: "tick" });
    await host.events("tick", 2);
    await send({ taskId: "end" });
  });
});

describe("stop", () => {
  test("what runs is waited for and answered, then the hooks run in order", async () => {
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
  });

  test("drain and hooks are bounded; what still runs is said to be lost", async () => {
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
        text: expect.stringContaining("1 invocations were still running"),
      }),
    );
    // Its message stays hidden for the rest of its lease, as after a crash on Azure.
    expect(await messageCount(work)).toBe(1);
    expect((await work.peekMessages()).peekedMessageItems).toEqual([]);
  });
});
