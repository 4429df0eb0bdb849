import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { QueueServiceClient } from "@azure/storage-queue";
import { openOrders } from "../client/orders-database";
import { urlAs } from "../support/roles";
import type { Asked, SystemName, Told } from "./protocol";

/** Where the processes run. */
export interface Place {
  /** The folder of their package. */
  readonly folder: string;
  readonly node: string;
  /** A storage account. */
  readonly storage: string;
}

const aliveMs = 120_000;

/** Judges one package in a process of its own, in a database of its own. */
export async function judge(system: SystemName, place: Place): Promise<Told[]> {
  const scene = await openOrders();
  const queue = `hints-${system.replace(/[^a-z]+/g, "-").replace(/^-/, "")}`;
  try {
    const told = await runProcess(place, {
      system,
      ownerUrl: scene.url,
      shopUrl: scene.shopUrl,
      workerUrl: urlAs(scene.url, "worker"),
      storage: place.storage,
      queue,
    });
    return [...told, await judgeHints(place.storage, queue)];
  } finally {
    await scene.close();
  }
}

async function runProcess({ folder, node }: Place, asked: Asked): Promise<Told[]> {
  const { PATH, HOME, TMPDIR } = process.env;
  const child = spawn(node, [join(folder, "judge-process.ts"), JSON.stringify(asked)], {
    cwd: folder,
    // No setting of the caller's environment reaches the ORMs.
    env: { PATH, HOME, TMPDIR, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: aliveMs,
    killSignal: "SIGKILL",
  });
  const told: Told[] = [];
  createInterface(child.stdout).on("line", (line) => {
    // Anything else is the ORM's.
    if (line.startsWith('{"check":')) told.push(JSON.parse(line) as Told);
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  const problem = code === 0 ? null : `it ended with ${String(code ?? signal)}`;
  return [...told, { check: "the process ends by itself", problem }];
}

/** A committed transaction has left hints, and each names the definition of its task. */
async function judgeHints(storage: string, queue: string): Promise<Told> {
  const check = "committed: the hint is in the queue";
  const messages = QueueServiceClient.fromConnectionString(storage).getQueueClient(queue);
  if (!(await messages.exists())) return { check, problem: "there is no queue" };
  const { peekedMessageItems } = await messages.peekMessages({ numberOfMessages: 32 });
  const texts = peekedMessageItems.map(({ messageText }) =>
    Buffer.from(messageText, "base64").toString(),
  );
  const isFine = texts.length > 0 && texts.every((text) => /"(?:bill|ship)"/.test(text));
  return { check, problem: isFine ? null : `the queue has ${JSON.stringify(texts)}` };
}
