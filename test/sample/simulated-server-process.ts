import { startTaskgateServer } from "../tsql/wire/start-taskgate-server";

/* A process with a simulated SQL Server on real time; writes its address. It ends when its input does. */
const tickMs = 5;

async function main(): Promise<void> {
  const simulated = await startTaskgateServer();
  setInterval(() => {
    simulated.world.clock = Date.now();
  }, tickMs);
  process.stdout.write(`${simulated.url}\n`);
  process.stdin.resume().once("end", () => process.exit());
}

void main();
