/** The stores that every behaviour is shown on, unless it is listed here. */
export const ownStores = ["memory", "PostgreSQL", "T-SQL"] as const;
/** One of them. */
export type OwnStore = (typeof ownStores)[number];

const nothingWaits = "each call of the memory store is atomic: nothing is locked, so nothing waits";
const noPlan = "the memory store has no plans";

/** Behaviours of locks, plans or connections that a store hasn't, and why. No other cell may be without a test. */
export const notApplicable: Readonly<
  Partial<Record<OwnStore, Readonly<Partial<Record<string, string>>>>>
> = {
  memory: {
    "S0.12": nothingWaits,
    "S0.13": noPlan,
    "S0.15": nothingWaits,
    "S0.16": nothingWaits,
    "S1.12": "the memory store keeps one version of a row",
    "S2.2": noPlan,
    "S3.11": nothingWaits,
    "S4.16": nothingWaits,
  },
  PostgreSQL: {
    "S1.12": "PostgreSQL always keeps row versions: there is no setting to compare",
    "S3.11": "PostgreSQL keeps row locks in the rows: none ever escalates",
  },
};
