import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { findFreePort } from "../../shared/local/free-port";
import { sleep } from "../../shared/platform/real-clock";

/** Blobs, queues and tables of one Azurite: the Functions host keeps locks, timers and keys in blobs. */
export interface StorageEmulator {
  readonly connectionString: string;
  stop(): Promise<void>;
}

const account = "devstoreaccount1";
/** Azurite takes any; Microsoft's published one is of no use here. */
const key = Buffer.alloc(64, 7).toString("base64");

/** In memory, on free ports of 127.0.0.1. Throws an Error when it hasn't answered after 30 s. */
export async function startStorageEmulator(): Promise<StorageEmulator> {
  const services = ["blob", "queue", "table"] as const;
  const ports = [await findFreePort(), await findFreePort(), await findFreePort()];
  const places = services.flatMap((name, index) => [`--${name}Port`, String(ports[index])]);
  const manifest = createRequire(__filename).resolve("azurite/package.json");
  const program = join(dirname(manifest), "dist", "src", "azurite.js");
  const options = ["--inMemoryPersistence", "--silent", "--disableTelemetry"];
  const child = spawn(process.execPath, [program, ...places, ...options, "--skipApiVersionCheck"], {
    env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${key}` },
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const addresses = ports.map((port) => `http://127.0.0.1:${String(port)}/${account}`);
  await Promise.all(addresses.map((address) => untilAnswered(address)));
  const endpoints = ["Blob", "Queue", "Table"].map(
    (name, index) => `${name}Endpoint=${String(addresses[index])};`,
  );
  return {
    connectionString: `DefaultEndpointsProtocol=http;AccountName=${account};AccountKey=${key};${endpoints.join("")}`,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

async function untilAnswered(address: string): Promise<void> {
  for (let tries = 0; tries < 300; tries += 1) {
    try {
      await fetch(address);
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(`Azurite did not answer at ${address}`);
}
