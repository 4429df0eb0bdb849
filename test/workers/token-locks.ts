import type { DefinitionRow } from "../../shared/testing/memory-store/state";
import { limitOf } from "../../shared/testing/memory-store/rows";
import { countHeld } from "../../shared/testing/memory-store/token-pool";
import type { OperationName } from "./database";

/**
 * Does the call lock the definition's row on a database, whatever it then changes? A wish for tokens is denied by plain reads while all
 * are held, and a return on request ends by them while nothing is asked for. Every holder is taken for alive.
 */
export function locksTokens(operation: OperationName, row: DefinitionRow, nowMs: number): boolean {
  const free = (limitOf(row) ?? Infinity) - countHeld(row);
  switch (operation) {
    case "startExecution":
    case "acquireTokens":
      return free > 0;
    case "releaseTokens":
    case "finishExecution":
      return true;
    case "releaseSurplus":
      return (
        free < 0 ||
        (row.deniedAtMs > row.givenAtMs && row.deniedAtMs > nowMs - row.settings.leaseMs)
      );
    default:
      return false;
  }
}
