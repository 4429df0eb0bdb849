/** Functions that take requests and give responses as streams, in the local Functions host. */
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { expect, test } from "@jest/globals";
import { setup, useHosts } from "./fixtures/host-setup";

useHosts();

const start = () => setup({ app: "stream-app" });
const json = { "content-type": "application/json" };

test("a streamed request and its response go through the library whole", async () => {
  const { url } = await start();
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const response = await fetch(`${url}/echo/a%20b?a=1&b=two`, {
    method: "POST",
    body: "grüße",
    headers: {
      ...json,
      "x-sent": "yes",
      "x-ms-invocation-id": "forged",
      traceparent: `00-${traceId}-b7ad6b7169203331-01`,
    },
  });
  expect(response.status).toBe(201);
  expect(response.headers.get("x-method")).toBe("POST");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  expect(response.headers.get("x-ms-invocation-id")).toBeNull();
  expect(response.headers.getSetCookie()).toEqual(["seen=a; Path=/", "also=b; Path=/"]);
  expect(await response.json()).toMatchObject({
    body: "grüße",
    params: { id: "a b" },
    query: { a: "1", b: "two" },
    header: "yes",
    url: `${url}/echo/a%20b?a=1&b=two`,
    trace: expect.stringContaining(traceId),
  });
  expect((await fetch(`${url}/echo/1`)).status).toBe(201);
});

test("a function reads the first part of a body while the rest is on its way, and its caller the first part of the answer", async () => {
  const { host, url } = await start();
  let send: (part: string | null) => void = () => undefined;
  const body = new ReadableStream({
    start: (controller) => {
      const bytes = new TextEncoder();
      send = (part) => {
        if (part === null) controller.close();
        else controller.enqueue(bytes.encode(part));
      };
    },
  });
  const init = { method: "POST", headers: json, body, duplex: "half" } as const;
  const answer = fetch(`${url}/each`, init);
  send("12345");
  expect(await host.events("chunk")).toMatchObject([{ bytes: 5 }]);
  send("678");
  send(null);
  expect(await (await answer).text()).toBe("8");

  const response = await fetch(`${url}/parts`);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect(await reader?.read()).toMatchObject({ value: "first" });
  host.send({ kind: "open", gate: "second" });
  expect(await reader?.read()).toMatchObject({ value: "second" });
  expect(await reader?.read()).toMatchObject({ done: true });
});

test("no response is 204, a failure before the response 500, and one within it ends the connection", async () => {
  const { host, url } = await start();
  const post = (path: string) =>
    fetch(`${url}/${path}`, { method: "POST", headers: json, body: "1".repeat(200_000) });
  expect((await post("empty")).status).toBe(204);
  expect(await (await post("unread")).text()).toBe("unread");
  expect((await fetch(`${url}/broken`)).status).toBe(500);
  expect((await fetch(`${url}/text`)).status).toBe(500);
  const torn = await fetch(`${url}/torn`);
  const rest = torn.text();
  host.send({ kind: "open", gate: "torn" });
  await expect(rest).rejects.toThrow(/terminated/);
  // A broken stream is the end of its own answer only.
  expect(await (await post("unread")).text()).toBe("unread");
});

test("a caller that goes away ends the body that its function reads, and nothing else", async () => {
  const { host, url } = await start();
  const given = (body: ReadableStream, signal: AbortSignal) =>
    fetch(`${url}/each`, { method: "POST", headers: json, body, duplex: "half", signal });
  const open = () =>
    new ReadableStream({
      start: (controller) => {
        controller.enqueue(new Uint8Array(5));
      },
    });
  const leaving = new AbortController();
  const first = given(open(), leaving.signal);
  await host.events("chunk");
  leaving.abort();
  await expect(first).rejects.toThrow(/aborted/);
  await host.wait(
    (report): report is Extract<typeof report, { kind: "log" }> =>
      report.kind === "log" && report.text.startsWith("Executed 'each' (Failed"),
  );
  // Gone at once, perhaps before the request was passed on.
  for (let left = 0; left < 20; left += 1) {
    const going = new AbortController();
    const call = given(open(), going.signal);
    setTimeout(() => {
      going.abort();
    }, left / 4);
    await expect(call).rejects.toThrow(/aborted/);
  }
  expect((await fetch(`${url}/echo/1`)).status).toBe(201);
  await host.stop();
  expect(host.reports).not.toContainEqual(
    expect.objectContaining({ text: expect.stringContaining("is lost") }),
  );
});

test("the server of the streams listens on this machine's own address only", async () => {
  const { host } = await start();
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;
  // The library's own line.
  const lines = host.reports.map((report) => (report.kind === "log" ? report.text : ""));
  const port = Number(/Port: (\d+)/.exec(lines.join("\n"))?.[1]);
  expect(port).toBeGreaterThan(0);
  const reach = (at: string): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect({ host: at, port });
      socket.once("connect", () => {
        socket.destroy();
        resolve(true);
      });
      socket.once("error", () => {
        resolve(false);
      });
    });
  expect(await reach("127.0.0.1")).toBe(true);
  if (address !== undefined) expect(await reach(address)).toBe(false);
});
