import type { Scenario } from "../scenario";
import type { ScenarioName } from "../scenario-names";
import { drains, groups, inFlights } from "./drain";
import { enqueues } from "./enqueue";
import { limitScenarios } from "./limit";
import { scheduled } from "./scheduled";
import { idle, latency } from "./waiting";

const all: readonly Scenario[] = [
  ...drains,
  ...inFlights,
  ...enqueues,
  ...limitScenarios,
  latency,
  scheduled,
  groups,
  idle,
];

/** In their own order, whatever the order of the names. */
export function scenariosOf(names: readonly ScenarioName[]): Scenario[] {
  return all.filter(({ name }) => names.includes(name));
}
