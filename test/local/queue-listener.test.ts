/** Queue triggers and outputs of the local Functions host, with a real Azurite. */
import { describe, expect, test } from "@jest/globals";
import { poll, setup, startHost, take, untilEmpty, useHosts } from "./fixtures/host-setup";

useHosts();

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
      // As the Functions host 4.1037 writes it.
      insertionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      // The host lays the payload over the message's own members.
      dequeueCount: "hidden by the payload",
      queueTrigger: { taskId: "t1" },
    });
    await untilEmpty(work);
    expect(host.reports).toContainEqual(
      expect.objectContaining({ functionName: "work", text: "[hook] working on t1" }),
    );
  });

  test("members of the payload are told in the metadata as the Functions host tells them", async () => {
    const { host, send } = await setup();
    const told = { text: "x", digits: "007", count: 4, part: { n: 1 } };
    const instants = { at: "2026-01-31T08:30:00.5Z", east: "2026-01-31T08:30:00+02:00" };
    await send({ taskId: "t1", ...told, ...instants, isNew: true, day: "2026-01-31", list: [1] });
    const [worked] = await host.events("work");
    expect(worked["metadata"]).toMatchObject({
      ...told,
      at: "01/31/2026 08:30:00",
      east: "01/31/2026 06:30:00",
      isNew: "True",
      day: "2026-01-31",
    });
    expect(worked["metadata"]).not.toHaveProperty("list");
    expect(worked["message"]).toMatchObject({ ...instants, isNew: true, list: [1] });
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
    const second = startHost({
      env: { WORK_QUEUE: first.work.name, RESULT_QUEUE: first.results.name },
    });
    await second.of("ready");
    // The proof that time has passed: another message, hidden for longer than one lease.
    await first.send({ taskId: "later" }, 3);
    await poll(() => {
      const worked = [first.host, second].flatMap((host) => host.eventNames("worked"));
      return worked.length > 0 ? true : undefined;
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
    const ids = ["a", "b", "c", "d", "e"];
    const { host, work } = await setup(
      {},
      ids.map((taskId) => ({ taskId, action: "wait" })),
    );
    const visibleCount = async (): Promise<number> =>
      (await work.peekMessages({ numberOfMessages: 32 })).peekedMessageItems.length;
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
