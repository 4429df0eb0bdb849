/**
 * Starts Azurite's queue service, Microsoft's emulator of Azure Storage queues, for local work and
 * tests. Each start has an account key of its own: with the published one of all emulators a web
 * page that finds the port could sign an address and put messages into the queues. It ends within 2 s after this process, however that ends (`supervisor.ts`).
 */
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LOCAL_HOST } from "./free-port";
import { lastWords } from "./last-words";
import { startService, type SupervisedService } from "./supervised-service";

/** A running emulator. */
export interface Azurite {
  /** For `AzureWebJobsStorage` and for queue clients. Holds this start's key. */
  readonly connectionString: string;
  readonly port: number;
  readonly pid: number;
  /** Settles with the emulator's last output when it ends, for any reason. */
  readonly exited: Promise<string>;
  /** Ends the emulator; at most 10 s, usually 50 ms. May be called twice. */
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 60_000;
const ACCOUNT = "devstoreaccount1";
/** As long as Azure's own. */
const KEY_BYTES = 64;

/**
 * Starts the emulator and returns when it answers, in about 0.6 s.
 *
 * Errors: an Error that names the missing npm package.
 */
export async function startAzurite(): Promise<Azurite> {
  const key = randomBytes(KEY_BYTES).toString("base64");
  const service = await startService({
    command: process.execPath,
    args: [
      locateProgram(),
      ...["--queueHost", LOCAL_HOST, "--queuePort", "0"],
      "--inMemoryPersistence",
      // Without the last one it refuses the API version that the client library speaks.
      ...["--silent", "--disableTelemetry", "--skipApiVersionCheck"],
    ],
    cwd: tmpdir(),
    // What the user set for node (an inspector, a loader) is not meant for the emulator.
    env: { ...process.env, NODE_OPTIONS: undefined, AZURITE_ACCOUNTS: `${ACCOUNT}:${key}` },
    stopSteps: ["SIGINT", "SIGKILL"],
  });
  return await whenReady(service, key);
}

async function whenReady(service: SupervisedService, key: string): Promise<Azurite> {
  try {
    await service.waitForOutput(LISTENING, READY_TIMEOUT_MS);
  } catch (error) {
    await service.stop();
    throw new Error(`Azurite did not start: ${service.output().trim()}`, { cause: error });
  }
  const port = Number(LISTENING.exec(service.output())?.[1]);
  return {
    connectionString:
      `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${key};` +
      `QueueEndpoint=http://${LOCAL_HOST}:${String(port)}/${ACCOUNT};`,
    port,
    pid: service.pid,
    exited: service.exited.then((exit) => lastWords(exit, service.output())),
    async stop() {
      await service.stop();
    },
  };
}

const LISTENING = /successfully listens on http:\/\/[^:]+:(\d+)/;

function locateProgram(): string {
  try {
    const manifest = createRequire(__filename).resolve("azurite/package.json");
    return join(dirname(manifest), "dist", "src", "queue", "main.js");
  } catch (error) {
    throw new Error(
      "The npm package azurite, the queue emulator, is not installed. Run `npm ci` (not with " +
        "--omit=dev), or set AzureWebJobsStorage to a storage account of your own.",
      { cause: error },
    );
  }
}
