import { afterEach, beforeAll, expect, test } from "@jest/globals";
import type { HostChild } from "../../shared/local/host-children";
import { ensureBuilt, startApp } from "./built-app";

/* Goal: an address that no store takes is told as a wrong setting: 500, never 400. */

/** No server listens there: the queues are no part of this. */
const nobodysQueues =
  "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=YQ==;QueueEndpoint=http://127.0.0.1:9/a;";

let host: HostChild | undefined;
beforeAll(() => void ensureBuilt(), 180_000);
afterEach(() => host?.stop());

test.each([
  ["postgres://u:hunter2@db.example.net/d?sslmode=prefer", /`sslmode`.*got `prefer`/],
  ["mssql://u:hunter2@db.example.net/d?encrypt=false", /`encrypt`.*allowCleartext=true/],
])("the compiled app with %s names the setting and the error", async (url, expected) => {
  const lines: string[] = [];
  const settings = { TASKGATE_DATABASE_URL: url, AzureWebJobsStorage: nobodysQueues };
  host = await startApp(settings, (line) => lines.push(line));
  const response = await fetch(`${host.url}/api/status`);
  const body = (await response.json()) as { code: string; detail: string };
  expect([response.status, body.code]).toEqual([500, "TASKGATE_SETTINGS"]);
  expect(body.detail).toMatch(/TASKGATE_DATABASE_URL: /);
  expect(body.detail).toMatch(expected);
  expect(`${body.detail}${lines.join("\n")}`).not.toContain("hunter2");
});
