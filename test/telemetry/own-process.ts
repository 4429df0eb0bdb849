import * as openTelemetry from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { createClient, defineTask } from "../../shared";
import { taskgate } from "../../shared/functions";
import { until } from "../support/gate";

/*
 * An app that has set OpenTelemetry up by itself: a web request's span enqueues by a client, the worker of the same program runs the
 * task. Writes what the program's own exporters got as JSON.
 */
const store = process.env["TASKGATE_DATABASE_URL"] ?? "";

async function main(): Promise<void> {
  const spans = new InMemorySpanExporter();
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const tracers = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  tracers.register();
  const reader = new PeriodicExportingMetricReader({
    exporter: metrics,
    exportIntervalMillis: 3_600_000,
  });
  openTelemetry.metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

  const seen: string[] = [];
  const ship = defineTask<{ order: number }>({
    name: "ship",
    run: async ({ order }, ctx) => {
      seen.push(openTelemetry.trace.getActiveSpan()?.spanContext().traceId ?? "none");
      if (order === 1) await ctx.enqueue(ship, { order: 2 });
    },
  });
  const gate = taskgate({ tasks: [ship], openTelemetry });
  const client = createClient({ store, tasks: [ship], openTelemetry });
  const request = openTelemetry.trace.getTracer("shop").startSpan("POST /orders");
  await openTelemetry.context.with(
    openTelemetry.trace.setSpan(openTelemetry.context.active(), request),
    () => client.enqueue(ship, { order: 1 }),
  );
  request.end();
  const end = new AbortController();
  const working = gate.work({ signal: end.signal });
  await until("both tasks ran", () => seen.length === 2);
  end.abort();
  await working;
  await client.close();
  await gate.end();
  const told = spans.getFinishedSpans().map((span) => ({
    name: span.name,
    traceId: span.spanContext().traceId,
    parent: span.parentSpanContext?.spanId ?? null,
    id: span.spanContext().spanId,
    attributes: span.attributes,
  }));
  const measured = metrics
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const names = [...new Set(measured.map(({ descriptor }) => descriptor.name))];
  process.stdout.write(JSON.stringify({ request: request.spanContext(), seen, told, names }));
  process.exit(0);
}

void main();
