import { max, nameParam, operatorBody, reason } from "./common-fields";
import type { HttpEntry } from "./http-entry";

/* Routes for incidents: failures, pace, a stop of everything. */

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
  "api-pace": { params: [nameParam], query: [], body: null },
  "api-statistics": {
    params: [nameParam],
    query: [{ name: "window", kind: "choice" }],
    body: null,
  },
  "api-summaries": { params: [], query: [], body: null },
  "api-stop-state": { params: [], query: [], body: null },
  "api-stop": { params: [], query: [], body: operatorBody },
  "api-resume-all": { params: [], query: [], body: operatorBody },
};
