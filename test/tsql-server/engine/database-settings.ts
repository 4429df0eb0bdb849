import type { AlterDatabase } from "../syntax/ast-definitions";
import type { Connection } from "./connection";
import { SimulationError, SqlError } from "./sql-error";

/** ALTER DATABASE .. SET: READ_COMMITTED_SNAPSHOT needs to be the only connection that does anything. */
export function alterDatabase(statement: AlterDatabase, connection: Connection): void {
  const { world } = connection;
  if (connection.transactionCount > 0) {
    throw new SqlError(
      226,
      "ALTER DATABASE statement not allowed within multi-statement transaction.",
      { state: 6 },
    );
  }
  switch (statement.option) {
    case "ALLOW_SNAPSHOT_ISOLATION":
      world.allowsSnapshot = statement.isOn;
      return;
    case "READ_COMMITTED_SNAPSHOT": {
      const isBusy = world.connections.some(
        (other) => other !== connection && (other.state !== "idle" || other.transactionCount > 0),
      );
      if (isBusy) {
        throw new SqlError(
          5070,
          "Database state cannot be changed while other users are using the database.",
          { state: 2 },
        );
      }
      world.isVersioned = statement.isOn;
      return;
    }
    case "OPTIMIZED_LOCKING":
      throw new SimulationError(
        "Optimized locking is chosen with the engine, not by ALTER DATABASE",
      );
  }
}
