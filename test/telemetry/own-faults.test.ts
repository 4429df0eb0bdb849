// Goal: what goes wrong in the app's own telemetry is no fault of the task, and what is registered late is found.
// Method: OpenTelemetry's own SDK, with a span processor and instruments that throw, and a meter provider that comes after the first value.
import * as openTelemetry from "@opentelemetry/api";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { createOwnOpenTelemetry } from "../../shared/platform/own-open-telemetry";
import type { Telemetry } from "../../shared/ports/telemetry";

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = createOwnOpenTelemetry(openTelemetry);
});

afterEach(() => {
  for (const part of [openTelemetry.trace, openTelemetry.metrics, openTelemetry.context])
    part.disable();
});

/** A processor of an app: each of its methods fails that is named. */
function failing(...names: (keyof SpanProcessor)[]): SpanProcessor {
  const of = (name: keyof SpanProcessor) => (): void => {
    if (names.includes(name)) throw new Error(`the processor fails in ${name}`);
  };
  return {
    onStart: of("onStart"),
    onEnd: of("onEnd"),
    forceFlush: () => Promise.resolve().then(of("forceFlush")),
    shutdown: () => Promise.resolve(),
  };
}

test.each(["onStart", "onEnd"] as const)(
  "a span processor that fails in %s changes neither a body's answer nor its error",
  async (method) => {
    new NodeTracerProvider({ spanProcessors: [failing(method)] }).register();
    let runs = 0;
    const answer = await telemetry.span({ name: "task ship" }, (span) => {
      runs += 1;
      span.set({ attempt: 1 });
      span.fail();
      return Promise.resolve("done");
    });
    expect([runs, answer]).toEqual([1, "done"]);
    const refused = telemetry.span({ name: "task ship" }, () => Promise.reject(new Error("mine")));
    await expect(refused).rejects.toThrow("mine");
  },
);

test("instruments that fail are no fault of the counting code", () => {
  const fails = (): never => {
    throw new Error("the instrument fails");
  };
  const meter = { createCounter: () => ({ add: fails }), createHistogram: fails };
  openTelemetry.metrics.setGlobalMeterProvider({ getMeter: () => meter } as never);
  expect(() => {
    telemetry.count("taskgate.task.done", 1);
    telemetry.record("taskgate.task.duration", 5);
  }).not.toThrow();
});

test("a meter provider that is registered after the first value gets those that follow", async () => {
  telemetry.count("taskgate.task.done", 1);
  telemetry.record("taskgate.task.duration", 5);
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  openTelemetry.metrics.setGlobalMeterProvider(provider);
  telemetry.count("taskgate.task.done", 2);
  telemetry.record("taskgate.task.duration", 7);
  await telemetry.flush(5_000);
  const points = exporter
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
    .map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]?.value]);
  expect(points).toEqual([
    ["taskgate.task.done", 2],
    ["taskgate.task.duration", expect.objectContaining({ count: 1, sum: 7 })],
  ]);
  await provider.shutdown();
});

test("a flush that fails or never ends is no fault of the app's end", async () => {
  const hanging: SpanProcessor = { ...failing(), forceFlush: () => new Promise(() => undefined) };
  for (const processor of [failing("forceFlush"), hanging]) {
    openTelemetry.trace.disable();
    // The provider's own timer would keep this process for half a minute.
    const provider = { spanProcessors: [processor], forceFlushTimeoutMillis: 100 };
    new NodeTracerProvider(provider).register();
    await expect(telemetry.flush(50)).resolves.toBeUndefined();
  }
});
