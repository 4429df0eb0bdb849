/** Requests about statistics, as requests.ts has them. */
import { objectOf } from "./object-schema";
import type { ValueOf } from "./object-schema";
import { oneOf } from "./schemas";

/** How far back statistics reach. */
export const statisticWindows = ["hour", "day", "week"] as const;

/** Which statistics to read. */
export const readStatisticsQuery = objectOf(
  { window: oneOf(...statisticWindows).default("hour") },
  { root: "query" },
);
/** Which statistics to read: of the last hour by minute, of the last day by ten minutes, of the last week by hour. */
export type StatisticsRequest = ValueOf<typeof readStatisticsQuery>;
