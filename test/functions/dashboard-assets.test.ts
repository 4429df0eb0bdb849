import { expect, test } from "@jest/globals";
import { HttpRequest } from "@azure/functions";
import { serveAsset } from "../../shared/functions/dashboard/assets";

const ask = (url: string, file?: string): ReturnType<typeof serveAsset> =>
  serveAsset(
    new HttpRequest({ method: "GET", url, ...(file === undefined ? {} : { params: { file } }) }),
  );

test.each([
  ["http://localhost:7071/api/dashboard/", "/api/dashboard"],
  ["https://example.net/ops/board/?x=1", "/ops/board"],
])("the page at %s, with a slash at its end, is told to be at %s", async (url, path) => {
  const { status, headers } = await ask(url);
  expect(status).toBe(308);
  const { location } = headers as { location: string };
  expect(new URL(location, url).pathname).toBe(path);
});

test("the page and its parts are served, and no other file", async () => {
  const url = "http://localhost:7071/api/dashboard";
  expect(await ask(url)).toMatchObject({ status: 200 });
  expect(await ask(`${url}/batch-card.js`, "batch-card.js")).toMatchObject({ status: 200 });
  expect(await ask(`${url}/assets.ts`, "assets.ts")).toMatchObject({ status: 404 });
});
