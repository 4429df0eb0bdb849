/** The queue emulator, the real one: who may write to its queues, and what it says of its end. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  QueueSASPermissions,
  QueueServiceClient,
  StorageSharedKeyCredential,
  generateQueueSASQueryParameters,
} from "@azure/storage-queue";
import { startAzurite, type Azurite } from "../../shared/local/azurite";

const account = "devstoreaccount1";
/** The one that Microsoft publishes for every emulator. */
const publishedKey =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

let azurite: Azurite;
let other: Azurite;
beforeAll(async () => {
  [azurite, other] = await Promise.all([startAzurite(), startAzurite()]);
  await QueueServiceClient.fromConnectionString(azurite.connectionString).createQueue("ingest");
});
afterAll(async () => {
  await Promise.all([azurite.stop(), other.stop()]);
});

function keyOf({ connectionString }: Azurite): string {
  return /AccountKey=([^;]+)/.exec(connectionString)?.[1] ?? "";
}

/** What a web page can do that has guessed the port: an address signed with a key, and text without a question before. */
async function putAsPage(key: string): Promise<number> {
  const sas = generateQueueSASQueryParameters(
    {
      queueName: "ingest",
      permissions: QueueSASPermissions.parse("ap"),
      expiresOn: new Date(Date.now() + 600_000),
    },
    new StorageSharedKeyCredential(account, key),
  ).toString();
  const response = await fetch(
    `http://127.0.0.1:${String(azurite.port)}/${account}/ingest/messages?${sas}`,
    {
      method: "POST",
      headers: { "content-type": "text/plain", origin: "https://evil.example" },
      body: "<QueueMessage><MessageText>e30=</MessageText></QueueMessage>",
    },
  );
  await response.arrayBuffer();
  return response.status;
}

describe("the key", () => {
  test("the published one, another start's and none open nothing; its own does", async () => {
    expect(await putAsPage(publishedKey)).toBe(403);
    expect(await putAsPage(keyOf(other))).toBe(403);
    const bare = await fetch(`http://127.0.0.1:${String(azurite.port)}/${account}/ingest/messages`);
    expect(bare.status).toBe(403);
    const queue = QueueServiceClient.fromConnectionString(azurite.connectionString).getQueueClient(
      "ingest",
    );
    expect((await queue.peekMessages()).peekedMessageItems).toEqual([]);
    expect(await putAsPage(keyOf(azurite))).toBe(201);
    expect((await queue.peekMessages()).peekedMessageItems).toHaveLength(1);
  });

  test("the key has 64 random bytes", () => {
    expect(Buffer.from(keyOf(azurite), "base64")).toHaveLength(64);
    expect(keyOf(azurite)).not.toBe(keyOf(other));
  });
});

describe("last words", () => {
  test("an emulator that is killed names the signal and not its start", async () => {
    process.kill(other.pid, "SIGKILL");
    expect(await other.exited).toBe("SIGKILL");
  });
});
