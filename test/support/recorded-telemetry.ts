import type { LogFields } from "../../shared/ports/logger";
import { noTelemetry } from "../../shared/ports/telemetry";
import type { SpanOptions, Telemetry } from "../../shared/ports/telemetry";

/** One addition to a counter. */
export interface Counted {
  readonly name: string;
  readonly value: number;
  readonly attributes: LogFields;
}

/** Telemetry that keeps what it is told. */
export interface RecordedTelemetry extends Telemetry {
  /** In order, without additions of nothing. */
  readonly counted: Counted[];
  /** As they begin. */
  readonly spans: SpanOptions[];
}

/** Opens it: nothing is sent, and no span is active. */
export function recordTelemetry(): RecordedTelemetry {
  const counted: Counted[] = [];
  const spans: SpanOptions[] = [];
  return {
    ...noTelemetry,
    counted,
    spans,
    count: (name, value, attributes = {}) => {
      if (value !== 0) counted.push({ name, value, attributes });
    },
    span: (options, body) => {
      spans.push(options);
      return noTelemetry.span(options, body);
    },
  };
}
