import type { ResultTable } from "../ports/result-table";
import type { OpenTelemetryModule } from "../ports/telemetry";
import type { StoreTransaction } from "../ports/task-store";
import type { AnyTaskKind } from "../worker/define/task-kind";
import type { EventRoute } from "../worker/define/ingest-event";

/** What an app hands to Taskgate. */
export interface AppParts {
  /**
   * Name of the app, where several share one database: each task then belongs to the first app that registers it, and another
   * one that has a task of the same name is refused. 1..200 characters. Default: no name, and no task belongs to the app.
   */
  readonly app?: string | undefined;
  /** Every kind of task that the app runs. A name that comes twice is an error. */
  readonly tasks: readonly AnyTaskKind[];
  /** Which events become which tasks; every route that matches is used. Default: none. */
  readonly events?: readonly EventRoute[] | undefined;
  /** Reads the app's own result tables for the dashboard. Default: the page shows none. */
  readonly results?: ((transaction: StoreTransaction) => Promise<ResultTable[]>) | undefined;
  /**
   * The module `@opentelemetry/api` of an app that has set OpenTelemetry up by itself: spans and metrics go to its providers, and
   * Taskgate starts no Application Insights of its own. Default: APPLICATIONINSIGHTS_CONNECTION_STRING decides.
   */
  readonly openTelemetry?: OpenTelemetryModule | undefined;
}
