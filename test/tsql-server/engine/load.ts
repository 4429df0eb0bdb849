import { runAlone } from "../schedule/step";
import { parseScript } from "../syntax/parser";
import { SimulationError } from "./sql-error";
import type { World } from "./world";

/**
 * Runs a file's batches in a world, as a migrator would: batch by batch, each as it stands.
 * @throws SimulationError for an error of any of them: it is a fault of the test
 */
export function loadScript(world: World, text: string, fileName: string): void {
  const connection = world.connect();
  for (const { statements, line } of parseScript(text, fileName)) {
    const { errors } = runAlone(connection, { kind: "file", fileName, statements });
    const [error] = errors;
    if (error !== undefined) {
      throw new SimulationError(
        `${fileName}:${error.line} (batch of line ${line}): ${error.number} ${error.message}`,
      );
    }
  }
  world.forget(connection);
}
