import type { EventRoute, ResultTable, StoreTransaction } from "taskgate";
import { addTotals } from "./flights/add-totals";
import { checkRow } from "./flights/check-row";
import { closeFile } from "./flights/close-file";
import { flightRoutes } from "./flights/event-routes";
import { importAirports } from "./flights/import-airports";
import { importFlights } from "./flights/import-flights";
import { parseBlock } from "./flights/parse-block";
import { readResults } from "./flights/results";
import { startFile } from "./flights/start-file";

/** Every kind of task that this app runs. Add yours here. */
export const tasks = [
  importAirports,
  importFlights,
  startFile,
  parseBlock,
  addTotals,
  checkRow,
  closeFile,
] as const;

/** Which events become which tasks; every route that matches is used. */
export const events: readonly EventRoute[] = [...flightRoutes];

/** Tables of results that the dashboard shows. */
export const results: (transaction: StoreTransaction) => Promise<ResultTable[]> = readResults;
