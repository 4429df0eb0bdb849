import type * as openTelemetry from "@opentelemetry/api";
import { read } from "../core/foreign-value";
import { wrongValue } from "../core/wrong-value";
import type { OpenTelemetryModule, Telemetry } from "../ports/telemetry";
import { OpenTelemetry } from "./open-telemetry";

/** Throws InvalidArgumentError, naming the field `openTelemetry`, for another value than that module. */
export function checkOpenTelemetry(given: unknown): void {
  if (isModule(given)) return;
  const expected =
    'the module `@opentelemetry/api`: `import * as openTelemetry from "@opentelemetry/api"`';
  throw wrongValue("openTelemetry", expected, given);
}

function isModule(given: unknown): given is OpenTelemetryModule {
  if (typeof given !== "object" || given === null) return false;
  const has = (member: string, name: string): boolean => {
    const part = read(given, member);
    return typeof part === "object" && part !== null && typeof read(part, name) === "function";
  };
  return (
    has("trace", "getTracer") &&
    has("metrics", "getMeter") &&
    has("context", "with") &&
    typeof read(given, "isSpanContextValid") === "function"
  );
}

/**
 * Telemetry by the providers that the program has registered with its own `@opentelemetry/api`: spans, counters, distributions and gauges
 * go where the program sends its own. Nothing is started, and nothing but `flush` asks the providers to send.
 */
export function createOwnOpenTelemetry(module: OpenTelemetryModule): Telemetry {
  const api = module as typeof openTelemetry;
  return new OpenTelemetry({ api, send: () => flushProviders(api), withGauges: true });
}

/** The interface has no flush; the providers of the SDK have one, behind the proxy that the interface hands out. */
async function flushProviders({ trace, metrics }: typeof openTelemetry): Promise<void> {
  const tracers: unknown = trace.getTracerProvider();
  const providers = [callOf(tracers, "getDelegate") ?? tracers, metrics.getMeterProvider()];
  await Promise.all(providers.map((provider) => callOf(provider, "forceFlush")));
}

/** What the method answers; undefined: there is none of that name. */
function callOf(value: unknown, method: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  const call = read(value, method);
  return typeof call === "function" ? (Reflect.apply(call, value, []) as unknown) : undefined;
}
