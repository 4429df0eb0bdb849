import type { AdminOptions, OfDefinition } from "../admin-options";
import { withKnownNames } from "../known-definitions";
import { readStatistics, readSummaries } from "../statistics-report";
import type { StatisticsReport, StatisticsSummary } from "../statistics-report";
import type { StatisticsRequest } from "../statistics-requests";

/** Calls about statistics. */
export interface StatisticsCalls {
  /** Counts, durations and the use of tokens over the last hour, day or week. */
  statistics(request: StatisticsRequest & OfDefinition): Promise<StatisticsReport>;
  /** The last two hours of every definition, by ten minutes. */
  summaries(): Promise<StatisticsSummary[]>;
}

/** The calls about statistics. */
export function statisticsCalls(options: AdminOptions): StatisticsCalls {
  return {
    statistics: (request) =>
      withKnownNames(options.store, request.definition, () => readStatistics(options, request)),
    summaries: () => readSummaries(options),
  };
}
