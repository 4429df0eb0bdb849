import { createRequire } from "node:module";
import "../../shared/functions/runtime";
import { createConsoleLogger } from "../../shared/platform/console-logger";
import { realClock } from "../../shared/platform/real-clock";
import { loadTelemetry } from "../../shared/platform/telemetry";
import { loadSettings } from "../../shared/settings/load-settings";

/*
 * Starts telemetry as the settings say, beside the modules of the functions, and writes as JSON what that took, which
 * packages are loaded, and which drivers are instrumented. TASKGATE_TEST_DRIVERS: before or after, when drivers are
 * loaded. TASKGATE_TEST_FLUSH_MS: measures something and flushes for at most this time.
 */
const requireLater = createRequire(__filename);

async function main(): Promise<void> {
  const driversAt = process.env["TASKGATE_TEST_DRIVERS"];
  const flushMsMax = Number(process.env["TASKGATE_TEST_FLUSH_MS"] ?? 0);
  const logger = createConsoleLogger({ level: "warn", form: "json", clock: realClock });
  const importedPackages = loadedPackages();
  if (driversAt === "before") isInstrumented();
  const startedAtMs = realClock.monotonicMs();
  const telemetry = await loadTelemetry(loadSettings().telemetry, logger);
  const startMs = realClock.monotonicMs() - startedAtMs;
  telemetry.count("taskgate.sweep.count", 1);
  await telemetry.span({ name: "sweep" }, () => Promise.resolve());
  const flushedAtMs = realClock.monotonicMs();
  if (flushMsMax > 0) await telemetry.flush(flushMsMax);
  const flushMs = realClock.monotonicMs() - flushedAtMs;
  const packages = loadedPackages();
  const instrumented = driversAt === undefined ? null : isInstrumented();
  process.stdout.write(
    JSON.stringify({ importedPackages, packages, startMs, flushMs, instrumented }),
  );
  process.exit(0);
}

/** Names of packages of which a file is loaded; not of what compiles the tests. */
function loadedPackages(): string[] {
  const names = Object.keys(requireLater.cache).flatMap((file) => {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
    return name === undefined || name.startsWith("@swc/") ? [] : [name];
  });
  return [...new Set(names)].sort();
}

interface Prototype {
  readonly prototype: Readonly<Record<string, object>>;
}

function isInstrumented(): { pg: boolean; tedious: boolean } {
  const { Client } = requireLater("pg") as { Client: Prototype };
  const { Connection } = requireLater("tedious") as { Connection: Prototype };
  return {
    pg: "__wrapped" in (Client.prototype["query"] ?? {}),
    tedious: "__wrapped" in (Connection.prototype["execSql"] ?? {}),
  };
}

void main();
