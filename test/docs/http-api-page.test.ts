import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { setupApi } from "../functions/api-setup";
import type { ApiSetup } from "../functions/api-setup";
import { hasProgram } from "../support/programs";
import { readBlocks } from "./markdown";
import { pasteShell } from "./paste-shell";
import { testBlocksRan } from "./run-blocks";

/* Goal: the calls of the page of the HTTP API are answered as it says, by an app on a real PostgreSQL; its port is the test's. */
const page = "docs/reference/http-api.md";
let api: ApiSetup;
let host: string;

beforeAll(async () => {
  api = await setupApi();
  await api.register("greet");
  ({ host } = new URL(await api.appUrl()));
});
afterAll(() => api.close());

const paste = (marker: string, adapt = (text: string): string => text): Promise<string> =>
  pasteShell([page, marker], {
    adapt: (text) => adapt(text.replaceAll("localhost:7071", host)),
  });

/** `npm test` needs no curl. */
const describeWithCurl = hasProgram("curl") ? describe : describe.skip;

describeWithCurl("the calls of the page of the HTTP API, by curl", () => {
  test("GET openapi.json describes the API", async () => {
    expect(JSON.parse(await paste("openapi-call"))).toMatchObject({
      openapi: expect.stringMatching(/^3\.1/),
      paths: { "/definitions/{name}/limit": {} },
    });
  });

  test("PUT of a limit that can't be is answered with the problems that the page shows", async () => {
    const shown = readBlocks(page).find(({ text }) => text.includes('"problems": ['))?.text ?? "";
    const { instance, ...problem } = JSON.parse(shown) as { instance: string };
    expect(instance).toMatch(/^urn:taskgate:invocation:/);
    expect(JSON.parse(await paste("refused-call"))).toMatchObject(problem);
  });

  test("PUT of a limit under a tag changes it while the tag of GET is the definition's", async () => {
    const tag = "0HkP3xSgZr5mBv1u9wQeTA";
    const old = await paste("tag-calls");
    expect(old).toContain('"status":412');
    const [, current = ""] = /^etag: "(.*)"\r$/im.exec(old) ?? [];
    const changed = await paste("tag-calls", (text) => text.replace(tag, current));
    expect(changed).toMatch(/\{[^{}]*"newLimit":3[^{}]*\}$/);
  });

  testBlocksRan([
    [page, "openapi-call"],
    [page, "refused-call"],
    [page, "tag-calls"],
  ]);
});
