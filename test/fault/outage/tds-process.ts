import { serverErrors } from "../../tsql-server/tds/faults";
import { startTaskgateServer } from "../../tsql/wire/start-taskgate-server";
import type { OutageOrder, OutageReport } from "./servers";

/*
 * A process with a simulated SQL Server on real time, told by its parent to be away and to be back. Away: every login is
 * answered by 40613, as Azure SQL does for a database that is paused or moves, and connections are cut.
 */
const tickMs = 5;

function report(message: OutageReport): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  const { server, url, world } = await startTaskgateServer();
  setInterval(() => {
    world.clock = Date.now();
  }, tickMs);
  process.on("message", (order: OutageOrder) => {
    if (order === "away") {
      server.setFault((point) =>
        point.place === "login"
          ? { kind: "error", error: serverErrors.databaseUnavailable }
          : undefined,
      );
      server.cutAll("rst");
    }
    if (order === "back") server.setFault(undefined);
    report({ kind: "done", connections: server.connectionCount });
  });
  process.on("disconnect", () => process.exit());
  report({ kind: "listens", url });
}

void main();
