import type { Flight } from "./flight";

/** Sums over flights of one origin: what an `add-totals` task adds to the tables. Pure. */
export type OriginTotals = {
  readonly origin: string;
  readonly flights: number;
  /** Minutes, early ones negative. */
  readonly delay: number;
  readonly hours: HourTotals[];
  readonly routes: RouteTotals[];
};

/** By hour of departure. */
export type HourTotals = { hour: number; flights: number; delay: number };

/** By destination. */
export type RouteTotals = {
  destination: string;
  flights: number;
  delay: number;
  /** Miles of all flights together. */
  distance: number;
};

/** One entry per origin, in order of first appearance. */
export function totalsByOrigin(flights: readonly Flight[]): OriginTotals[] {
  const groups = new Map<string, Flight[]>();
  for (const flight of flights) {
    const group = groups.get(flight.origin);
    if (group === undefined) groups.set(flight.origin, [flight]);
    else group.push(flight);
  }
  return [...groups].map(([origin, own]) => totalsOf(origin, own));
}

function totalsOf(origin: string, flights: readonly Flight[]): OriginTotals {
  const hours = new Map<number, HourTotals>();
  const routes = new Map<string, RouteTotals>();
  let delay = 0;
  for (const flight of flights) {
    delay += flight.delay;
    const hour = hours.get(flight.hour) ?? { hour: flight.hour, flights: 0, delay: 0 };
    hour.flights += 1;
    hour.delay += flight.delay;
    hours.set(flight.hour, hour);
    const { destination } = flight;
    const route = routes.get(destination) ?? { destination, flights: 0, delay: 0, distance: 0 };
    route.flights += 1;
    route.delay += flight.delay;
    route.distance += flight.distance;
    routes.set(destination, route);
  }
  const parts = { hours: [...hours.values()], routes: [...routes.values()] };
  return { origin, flights: flights.length, delay, ...parts };
}
