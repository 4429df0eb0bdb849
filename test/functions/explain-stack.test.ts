import { expect, test } from "@jest/globals";
import { enqueue, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";

test("an explanation on a terminal has an attempt a line, and the newest error's stack below", async () => {
  const api = await setupApi();
  await api.register("broken", { limit: 1 });
  const [id = ""] = await enqueue(api.store, "broken", 1);
  const worker = await startWorker(api.store, "broken");
  const error = "Error: refused\n    at send (mail.ts:3:9)\u001b[2J\nCaused by: time-out";
  await worker.fail(await worker.claim(1), { as: "dead", error });
  const { out } = await api.taskgate("explain", id);
  await api.close();

  const lines = out.split("\n");
  expect(lines).toContainEqual(expect.stringMatching(/^2\d{3}-.* failed .* Error: refused$/));
  expect(lines.slice(-4)).toEqual([
    "The newest error:",
    "  Error: refused",
    "      at send (mail.ts:3:9) [2J",
    "  Caused by: time-out",
  ]);
});
