import type * as openTelemetry from "@opentelemetry/api";
import type { Attributes, Context, Meter, Span } from "@opentelemetry/api";
import type { LogFields } from "../ports/logger";
import { noSpan } from "../ports/telemetry";
import type {
  SpanOptions,
  Telemetry,
  TelemetryCounter,
  TelemetryGauge,
  TelemetryHistogram,
  TelemetrySpan,
} from "../ports/telemetry";
import { within } from "./real-clock";

/** What `OpenTelemetry` stands on: the interface package, loaded by the caller, and how to send. */
export interface OpenTelemetryOptions {
  readonly api: typeof openTelemetry;
  /** Sends pending data; may hang or reject. */
  readonly send: () => Promise<void>;
  /** Takes gauges, too. */
  readonly withGauges?: boolean;
}

type InstrumentName = TelemetryCounter | TelemetryHistogram | TelemetryGauge;

/** Takes one value. */
type Instrument = (value: number, attributes: Attributes) => void;

/** Name of the tracer and the meter. */
const scope = "taskgate";
const traceParentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * The Telemetry port over OpenTelemetry's interface package, with any exporter. What the providers throw, such as an app's own span
 * processor, changes nothing: a measurement is lost then.
 */
export class OpenTelemetry implements Telemetry {
  readonly gauge?: NonNullable<Telemetry["gauge"]>;
  readonly #api: typeof openTelemetry;
  readonly #send: () => Promise<void>;
  #instruments = new Map<InstrumentName, Instrument>();
  #provider: openTelemetry.MeterProvider | null = null;

  constructor({ api, send, withGauges = false }: OpenTelemetryOptions) {
    this.#api = api;
    this.#send = send;
    if (withGauges)
      this.gauge = (name, value, attributes = {}) => {
        this.#gauge(name, value, attributes);
      };
  }

  count(name: TelemetryCounter, value: number, attributes: LogFields = {}): void {
    // A point of value 0 would be sent and paid for.
    if (value === 0) return;
    quietly(() => {
      const add = this.#instrument(name, (meter) => {
        const counter = meter.createCounter(name);
        return counter.add.bind(counter);
      });
      add(value, known(attributes));
    });
  }

  record(name: TelemetryHistogram, value: number, attributes: LogFields = {}): void {
    quietly(() => {
      const measure = this.#instrument(name, (meter) => {
        const histogram = meter.createHistogram(name, { unit: "ms" });
        return histogram.record.bind(histogram);
      });
      measure(value, known(attributes));
    });
  }

  /** A version of the interface before 1.9 has none. */
  #gauge(name: TelemetryGauge, value: number, attributes: LogFields): void {
    quietly(() => {
      const set = this.#instrument(name, (meter) => {
        const unit = name === "taskgate.definition.oldest_ready" ? { unit: "ms" } : {};
        const gauge = meter.createGauge(name, unit);
        return gauge.record.bind(gauge);
      });
      set(value, known(attributes));
    });
  }

  #instrument(name: InstrumentName, create: (meter: Meter) => Instrument): Instrument {
    const provider = this.#api.metrics.getMeterProvider();
    // An instrument of before its provider was registered measures nothing for ever.
    if (provider !== this.#provider) this.#instruments = new Map();
    this.#provider = provider;
    const instrument = this.#instruments.get(name) ?? create(provider.getMeter(scope));
    this.#instruments.set(name, instrument);
    return instrument;
  }

  async span<Result>(
    options: SpanOptions,
    body: (span: TelemetrySpan) => Promise<Result>,
  ): Promise<Result> {
    const { context, trace } = this.#api;
    const active = context.active();
    const parent = this.#remoteParent(options.traceParent) ?? active;
    // INTERNAL, the default kind: the host writes the request item, a SERVER or CONSUMER span would be a second one.
    const span = quietly(() =>
      trace
        .getTracer(scope)
        .startSpan(
          options.name,
          { attributes: known(options.attributes ?? {}), links: this.#links(active, parent) },
          parent,
        ),
    );
    if (span === undefined) return context.with(parent, () => body(noSpan));
    try {
      return await context.with(trace.setSpan(parent, span), () => body(this.#told(span)));
    } catch (error) {
      quietly(() => {
        span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
        noteError(span, error);
      });
      throw error;
    } finally {
      quietly(() => {
        span.end();
      });
    }
  }

  #told(span: Span): TelemetrySpan {
    const { SpanStatusCode } = this.#api;
    return {
      set: (attributes) => void quietly(() => span.setAttributes(known(attributes))),
      fail: () => void quietly(() => span.setStatus({ code: SpanStatusCode.ERROR })),
    };
  }

  within<Result>(traceParent: string | null, body: () => Result): Result {
    const { context, ROOT_CONTEXT } = this.#api;
    return context.with(this.#remoteParent(traceParent) ?? ROOT_CONTEXT, body);
  }

  currentTraceParent(): string | null {
    const { context, isSpanContextValid, trace } = this.#api;
    const current = trace.getSpanContext(context.active());
    if (current === undefined || !isSpanContextValid(current)) return null;
    const flags = (current.traceFlags & 0xff).toString(16).padStart(2, "0");
    return `00-${current.traceId}-${current.spanId}-${flags}`;
  }

  async flush(timeoutMs: number): Promise<void> {
    const sent = Promise.resolve()
      .then(() => this.#send())
      .catch(() => undefined);
    await within(timeoutMs, sent);
  }

  #remoteParent(traceParent: string | null | undefined): Context | null {
    const { isSpanContextValid, ROOT_CONTEXT, trace } = this.#api;
    const [, traceId, spanId, flags] = traceParentForm.exec(traceParent ?? "") ?? [];
    if (traceId === undefined || spanId === undefined || flags === undefined) return null;
    const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
    return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : null;
  }

  /** A task goes on with the trace of its enqueue: the link leads to the worker that runs it. */
  #links(active: Context, parent: Context): { context: openTelemetry.SpanContext }[] {
    const { isSpanContextValid, trace } = this.#api;
    const runner = trace.getSpanContext(active);
    const isOther =
      runner !== undefined &&
      isSpanContextValid(runner) &&
      runner.traceId !== trace.getSpanContext(parent)?.traceId;
    return isOther ? [{ context: runner }] : [];
  }
}

/** What the call answers; undefined: it threw. */
function quietly<Result>(call: () => Result): Result | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** Without what isn't known. */
function known(fields: LogFields): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) attributes[name] = value;
  }
  return attributes;
}

/** Type, code and places of the error, never its message: messages of drivers and handlers quote values. */
function noteError(span: Span, error: unknown): void {
  if (!(error instanceof Error)) {
    span.recordException({ name: typeof error, message: "not an Error" });
    return;
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  const places = (error.stack ?? "").match(/^ {4}at .*$/gm) ?? [];
  span.recordException({ name: error.name, message: code, stack: [code, ...places].join("\n") });
}
