/** In the order in which they run. */
export const scenarioNames = [
  "drain-1",
  "drain-4",
  "in-flight-8",
  "in-flight-1",
  "ahead-8",
  "bulk-enqueue",
  "single-enqueue",
  "limit-4",
  "limit-16",
  "latency",
  "scheduled",
  "groups",
  "idle",
] as const;

export type ScenarioName = (typeof scenarioNames)[number];

/** Those in which processor time decides. */
export const scenariosWithFlames: readonly ScenarioName[] = [
  "drain-1",
  "drain-4",
  "in-flight-8",
  "in-flight-1",
  "ahead-8",
  "bulk-enqueue",
  "limit-16",
];
