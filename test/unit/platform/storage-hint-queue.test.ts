import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { QueueServiceClient } from "@azure/storage-queue";
import { startAzurite } from "../../../shared/local/azurite";
import type { Azurite } from "../../../shared/local/azurite";
import { checkHintQueue, createHintQueue } from "../../../shared/platform/storage-hint-queue";

// Goal: the trigger will read the sent text, and a missing queue is no obstacle. Method: the real client
// against the storage emulator.
let azurite: Azurite;
beforeAll(async () => {
  azurite = await startAzurite();
});
afterAll(() => azurite.stop());

test("a hint queue sends base64 to a queue that it makes, delayed as asked", async () => {
  const storage = {
    kind: "connection-string",
    connectionString: azurite.connectionString,
  } as const;
  const queue = createHintQueue(storage, "hints-of-test");
  expect(await checkHintQueue(storage, "hints-of-test")).toBe(
    "The storage answers; queue hints-of-test is made by the first hint.",
  );

  await queue.send('{"taskDefinition":"größer"}', 0);
  await queue.send("later", 3_600);

  const client = QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient(
    "hints-of-test",
  );
  const { receivedMessageItems } = await client.receiveMessages({ numberOfMessages: 32 });
  const texts = receivedMessageItems.map((item) =>
    Buffer.from(item.messageText, "base64").toString("utf8"),
  );
  expect(texts).toEqual(['{"taskDefinition":"größer"}']);
  expect(await checkHintQueue(storage, "hints-of-test")).toMatch(/about 2 messages wait/);
});

test("a storage that can't be reached is an error in bounded time", async () => {
  const connectionString = azurite.connectionString.replace(/:\d+\//, ":1/");
  const queue = createHintQueue({ kind: "connection-string", connectionString }, "hints-of-test");

  await expect(queue.send("x", 0)).rejects.toThrow();
});
