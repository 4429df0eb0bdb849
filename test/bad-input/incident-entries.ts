import type { Field } from "./bad-values";
import type { HttpEntry } from "./entry-points";

/* Routes for incidents: failures, pace, a stop of everything. */

const name: Field = { name: "name", kind: "key" };
const reason: Field = { name: "reason", kind: "text" };
const max: Field = { name: "max", kind: "numeric text", min: 1, max: 1_000 };
const operatorBody = { fields: [reason], good: {}, isOptional: true };

/** By name of the function. */
export const incidentEntries: Readonly<Record<string, HttpEntry>> = {
  "api-failures": {
    params: [],
    query: [{ name: "definition", kind: "key" }, max],
    body: null,
  },
  "api-redrive-failures": {
    params: [],
    query: [],
    body: {
      fields: [
        { name: "definition", kind: "key", isRequired: true },
        { name: "kind", kind: "key", isRequired: true },
        { name: "like", kind: "text", isRequired: true },
        { name: "dryRun", kind: "boolean" },
        reason,
      ],
      good: { definition: "known", kind: "known", like: "refused" },
    },
  },
  "api-pace": { params: [name], query: [], body: null },
  "api-stop-state": { params: [], query: [], body: null },
  "api-stop": { params: [], query: [], body: operatorBody },
  "api-resume-all": { params: [], query: [], body: operatorBody },
};
