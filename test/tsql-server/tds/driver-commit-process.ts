import sql from "mssql";
import { serverErrors } from "./faults";
import { ScriptedEngine } from "./scripted-engine";
import { TdsServer } from "./server";

/*
 * A commit that the server answers with an error and the news that it has rolled back. Writes how it ended; nothing
 * of what the driver does then can be caught by the program that commits.
 */
async function main(): Promise<void> {
  const server = await TdsServer.start({
    engine: new ScriptedEngine(),
    fault: (point) =>
      point.place === "request" &&
      point.request.kind === "transaction" &&
      point.request.action === "commit"
        ? { kind: "error", error: serverErrors.deadlock }
        : undefined,
  });
  const pool = new sql.ConnectionPool({
    server: "127.0.0.1",
    port: server.port,
    user: "u",
    password: "p",
    options: { encrypt: false },
  });
  pool.on("error", () => undefined);
  process.on("uncaughtException", (error) => {
    process.stdout.write(`uncaught: ${error.message}`);
    process.exit();
  });
  await pool.connect();
  const transaction = pool.transaction();
  await transaction.begin();
  const outcome = await transaction.commit().then(
    () => "committed",
    () => "rejected",
  );
  process.stdout.write(outcome);
  process.exit();
}

void main();
