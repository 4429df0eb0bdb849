import { join } from "node:path";
import type { Gate } from "../functions/taskgate";
import { keepGates } from "../functions/gates";
import { TaskgateError } from "../core/errors";
import { CoreRegistry, installCoreApi } from "./functions-host/core-api";
import { loadApp } from "./functions-host/load-app";

/**
 * Loads an app's functions, as the Functions host does, and answers the gate that it made with `taskgate({ .. })`. No
 * function is called. Once per process. Throws TaskgateError TASKGATE_APP_BROKEN where the app can't be loaded, or has
 * no gate or several.
 */
export async function loadGate(appRoot: string, say: (line: string) => void): Promise<Gate> {
  const gates = keepGates();
  const registry = new CoreRegistry((_, text) => {
    say(text);
  });
  installCoreApi(registry);
  await loadApp(appRoot, registry);
  const [gate] = gates;
  if (gate !== undefined && gates.length === 1) return gate as Gate;
  throw new TaskgateError(
    "TASKGATE_APP_BROKEN",
    `${join(appRoot, "package.json")}: expected functions that call \`taskgate({ .. })\` once, got ${gates.length === 0 ? "none that do" : `${String(gates.length)} calls`}.`,
  );
}
