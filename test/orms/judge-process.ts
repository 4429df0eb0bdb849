import pg from "pg";
import { createClient } from "taskgate";
import { checks } from "./checks.ts";
import type { Scene } from "./checks.ts";
import { systems } from "./systems.ts";
import type { Asked, Told } from "../orms-launcher/protocol.ts";

/* Judges one ORM, in a database that is empty but for the definitions: npm run test:orms starts it. */

const asked = JSON.parse(process.argv[2] ?? "") as Asked;

const owner = new pg.Client({ connectionString: asked.ownerUrl });
await owner.connect();
const client = createClient({
  store: asked.workerUrl,
  hints: { storage: asked.storage, queue: asked.queue },
});
const system = await systems[asked.system](asked.shopUrl);
const scene: Scene = { name: asked.system, system, client, owner, shopUrl: asked.shopUrl };

for (const [check, judge] of Object.entries(checks)) {
  await owner.query(
    "delete from orders; delete from taskgate.dedupe; delete from taskgate.ready; delete from taskgate.scheduled; delete from taskgate.task",
  );
  let problem: string | null = null;
  try {
    await judge(scene);
  } catch (error) {
    problem = error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const told: Told = { check, problem };
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

await system.close();
await client.close();
await owner.end();
