import { scenarios } from "../bench/scenarios";
import type { StepRow } from "./result";
import { describeError, isOver } from "./step";
import type { VerifyStep } from "./step";

/** Those that count in PostgreSQL's own tables, or wait for its notifications. */
const postgresOnly: ReadonlySet<string> = new Set([
  "limitOverProcesses",
  "spreadOverHosts",
  "residentLatency",
  "sameInvocationLatency",
  "notifyingEnqueue",
]);
const scale = { tasks: 4_000, seconds: 3, backlog: 0 };
/** Only PostgreSQL's scenarios compare two databases. */
const noOther = (): Promise<string> =>
  Promise.reject(new Error("expected a scenario of one database"));
const simulatedScale = { tasks: 200, seconds: 1, backlog: 0 };

/** The bench in its short form: figures of this network and this server, to compare with themselves. */
export const benchStep: VerifyStep = {
  name: "bench",
  share: 0.1,
  meansNothingSimulated: true,
  run: async (context) => {
    const { place } = context;
    const rows: StepRow[] = [];
    for (const scenario of scenarios.filter(({ name }) => !postgresOnly.has(name))) {
      if (isOver(context)) {
        const summary = "no time left";
        rows.push({ what: scenario.name, status: "incomplete", summary, details: [] });
        continue;
      }
      context.say(scenario.name);
      try {
        const measured = await scenario(
          place.url,
          place.isSimulated ? simulatedScale : scale,
          noOther,
        );
        rows.push(
          ...measured.map(({ scenario: what, value, unit }): StepRow => {
            return { what, status: "told", summary: `${value.toFixed(1)} ${unit}`, details: [] };
          }),
        );
      } catch (error) {
        const summary = describeError(error);
        rows.push({ what: scenario.name, status: "failed", summary, details: [] });
      }
    }
    return rows;
  },
};
