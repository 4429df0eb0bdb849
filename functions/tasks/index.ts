import type { EventRoute } from "../ingest-event";
import { addTotals } from "./flights/add-totals";
import { checkRow } from "./flights/check-row";
import { flightRoutes } from "./flights/event-routes";
import { importAirports } from "./flights/import-airports";
import { importFlights } from "./flights/import-flights";
import { parseBlock } from "./flights/parse-block";

/** Every kind of task that this app runs. Add yours here. */
export const tasks = [importAirports, importFlights, parseBlock, addTotals, checkRow] as const;

/** Which events become which tasks; every route that matches is used. */
export const eventRoutes: readonly EventRoute[] = [...flightRoutes];
