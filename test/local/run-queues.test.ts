import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import { findFreePort } from "../../shared/local/free-port";
import { startQueues } from "../../shared/local/run-queues";
import type { RunQueues } from "../../shared/local/run-queues";

// Goal: beside another host, such as `func start`, a local run sends its events and hints where that host looks.
const root = mkdtempSync(join(tmpdir(), "taskgate-queues-"));
let ofOtherHost: Azurite;
let queues: RunQueues | undefined;

beforeAll(async () => {
  ofOtherHost = await startAzurite();
});
afterEach(() => queues?.stop());
afterAll(async () => {
  rmSync(root, { recursive: true });
  await ofOtherHost.stop();
});

/** Starts the queues of a run whose local.settings.json names this storage. */
async function start(hosts: number, connection: string) {
  const Values = { AzureWebJobsStorage: connection };
  writeFileSync(join(root, "local.settings.json"), JSON.stringify({ Values }));
  const said: string[] = [];
  queues = await startQueues({ app: { root }, options: { hosts }, say: (line) => said.push(line) });
  return { queues, said };
}

function emulatorAt(port: number): string {
  return ofOtherHost.connectionString.replace(/:\d+\/devstore/, `:${String(port)}/devstore`);
}

describe("the queues of a run", () => {
  test("a run without workers takes the emulator of another host, and leaves it running", async () => {
    const taken = await start(0, ofOtherHost.connectionString);
    expect(taken.queues).toMatchObject({
      connectionString: ofOtherHost.connectionString,
      title: "the emulator of AzureWebJobsStorage in local.settings.json",
    });
    await taken.queues.stop();
    expect(() => process.kill(ofOtherHost.pid, 0)).not.toThrow();
    expect(taken.said).toEqual([]);
  });

  test("a run with workers starts an emulator of its own", async () => {
    const own = await start(1, ofOtherHost.connectionString);
    expect(own.queues.title).toBe("Azurite, in memory");
    expect(own.queues.connectionString).not.toBe(ofOtherHost.connectionString);
  });

  test("a run without workers starts an emulator of its own where none answers", async () => {
    const own = await start(0, emulatorAt(await findFreePort()));
    expect([own.queues.title, own.said]).toEqual(["Azurite, in memory", []]);
  });

  test("a run without workers tells why an emulator that refuses it isn't used", async () => {
    const server = createServer((_, response) => response.writeHead(400).end());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const own = await start(0, emulatorAt((server.address() as AddressInfo).port));
    server.close();
    expect(own.queues.title).toBe("Azurite, in memory");
    expect(own.said).toEqual([
      expect.stringContaining(
        "The emulator of AzureWebJobsStorage in local.settings.json isn't used",
      ),
    ]);
  });

  test("a run without workers makes no queue in a storage account", async () => {
    const account = "DefaultEndpointsProtocol=https;AccountName=ours;AccountKey=AAAA";
    expect((await start(0, account)).queues.title).toBe("Azurite, in memory");
  });
});
