import { createConsoleLogger } from "../../shared/platform/console-logger";
import { realClock } from "../../shared/platform/real-clock";
import { loadTelemetry } from "../../shared/platform/telemetry";
import { loadSettings } from "../../shared/settings/load-settings";
import "../../functions/runtime";

/*
 * Starts telemetry as the settings say, beside the modules of the functions, and writes as JSON what that took and
 * which packages are loaded. TASKGATE_TEST_FLUSH_MS: counts once and flushes for so long.
 */
async function main(): Promise<void> {
  const before = process.memoryUsage().rss;
  const startedAtMs = realClock.monotonicMs();
  const logger = createConsoleLogger({ level: "warn", form: "json", clock: realClock });
  const telemetry = await loadTelemetry(loadSettings().telemetry, logger);
  const startMs = realClock.monotonicMs() - startedAtMs;
  const startMb = (process.memoryUsage().rss - before) / 2 ** 20;
  const flushAtMs = realClock.monotonicMs();
  const timeoutMs = Number(process.env["TASKGATE_TEST_FLUSH_MS"] ?? 0);
  if (timeoutMs > 0) {
    telemetry.count("taskgate.sweep.count", 1);
    await telemetry.span({ name: "sweep" }, () => Promise.resolve());
    await telemetry.flush(timeoutMs);
  }
  const flushMs = realClock.monotonicMs() - flushAtMs;
  const packages = new Set(
    Object.keys(require.cache).flatMap((file) => {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
      return name === undefined ? [] : [name];
    }),
  );
  const isWrapped = (name: string, method: string): boolean => {
    const client = require(name) as Record<string, { prototype: Record<string, object> }>;
    const type = client[name === "pg" ? "Client" : "Connection"];
    return "__wrapped" in (type?.prototype[method] ?? {});
  };
  const wrapped = process.env["TASKGATE_TEST_DRIVERS"] === undefined ? null : { pg: isWrapped("pg", "query"), tedious: isWrapped("tedious", "execSql") };
  process.stdout.write(JSON.stringify({ packages: [...packages], startMs, startMb, flushMs, wrapped }));
  process.exit(0);
}

void main();
