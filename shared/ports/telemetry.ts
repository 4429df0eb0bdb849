import type { LogFields } from "./logger";

/** Measurements and traces; a no-op where no telemetry is configured. Names are stable: docs/reference/telemetry.md. */
export interface Telemetry {
  /** Adds to a counter, such as `taskgate.task.done`. */
  count(name: TelemetryCounter, value: number, attributes?: LogFields): void;
  /** One value of a distribution, such as `taskgate.task.duration` in milliseconds. */
  record(name: TelemetryHistogram, value: number, attributes?: LogFields): void;
  /** The present value of a gauge; left out: there are none, as each costs something where it is sent to. */
  gauge?(name: TelemetryGauge, value: number, attributes?: LogFields): void;
  /**
   * Runs `body` as a span; `traceParent` (W3C) is its parent: a task's trace goes on from its enqueue. One that is absent
   * or malformed leaves the active span as the parent. What `body` throws is noted and thrown on.
   */
  span<Result>(
    options: SpanOptions,
    body: (span: TelemetrySpan) => Promise<Result>,
  ): Promise<Result>;
  /**
   * Runs `body` within the trace of `traceParent` without a span of its own, where other code writes that. null or a
   * malformed one: outside every trace, for what serves many, such as a heartbeat.
   */
  within<Result>(traceParent: string | null, body: () => Result): Result;
  /** The W3C traceparent of the span that is active now, or null: goes with an enqueue. */
  currentTraceParent(): string | null;
  /** Sends pending data; bounded by `timeoutMs`. Never throws. */
  flush(timeoutMs: number): Promise<void>;
}

/** What a span is called and where it belongs. */
export interface SpanOptions {
  name: string;
  traceParent?: string | null;
  attributes?: LogFields;
}

/** The running span, for attributes that are known only at its end. */
export interface TelemetrySpan {
  /** Adds attributes. No payloads, no texts of errors: docs/reference/telemetry.md lists the data that is never sent. */
  set(attributes: LogFields): void;
  /** It ends as a failure although nothing was thrown. */
  fail(): void;
}

/** Every counter of the product. */
export type TelemetryCounter =
  | "taskgate.sweep.count"
  | "taskgate.execution.started"
  | "taskgate.execution.limited"
  | "taskgate.execution.lost"
  | "taskgate.invocation.limited"
  | "taskgate.task.claimed"
  | "taskgate.task.done"
  | "taskgate.task.retried"
  | "taskgate.task.dead"
  | "taskgate.task.continued"
  | "taskgate.task.refused"
  | "taskgate.task.lost"
  | "taskgate.task.enqueued"
  | "taskgate.task.purged"
  | "taskgate.hint.sent"
  | "taskgate.message.deferred"
  | "taskgate.message.refused";

/** Every distribution of the product, in milliseconds. */
export type TelemetryHistogram = "taskgate.task.duration" | "taskgate.store.call";

/** Every gauge of the product: numbers of tasks and tokens, and `oldest_ready` in milliseconds. */
export type TelemetryGauge =
  | "taskgate.definition.ready"
  | "taskgate.definition.scheduled"
  | "taskgate.definition.waiting"
  | "taskgate.definition.running"
  | "taskgate.definition.held"
  | "taskgate.definition.limit"
  | "taskgate.definition.dead"
  | "taskgate.definition.oldest_ready";

/** A span that isn't there. */
export const noSpan: TelemetrySpan = { set: () => undefined, fail: () => undefined };

/** Measures nothing. */
export const noTelemetry: Telemetry = {
  count: () => undefined,
  record: () => undefined,
  span: (_, body) => body(noSpan),
  within: (_, body) => body(),
  currentTraceParent: () => null,
  flush: () => Promise.resolve(),
};

/**
 * The module `@opentelemetry/api` of the caller, in any version 1: `import * as openTelemetry from "@opentelemetry/api"`. Only what
 * Taskgate uses of it is named, and loosely: the types of two versions differ.
 */
export interface OpenTelemetryModule {
  readonly trace: object;
  readonly metrics: object;
  readonly context: object;
  readonly ROOT_CONTEXT: object;
  readonly SpanStatusCode: object;
  isSpanContextValid(context: never): boolean;
}
