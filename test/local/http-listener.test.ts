/** HTTP triggers of the local Functions host. */
import { describe, expect, test } from "@jest/globals";
import { setup, useHosts } from "./fixtures/host-setup";

useHosts();

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
      headers: {
        "x-sent": "yes",
        "content-type": "application/json",
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
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

  test("the listener sends answers without content, with bytes, and of failed functions", async () => {
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
