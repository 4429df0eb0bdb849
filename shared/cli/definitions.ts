import { take } from "../admin/read-result";
import { readDefinitionName } from "../admin/requests";
import type { DefinitionReport } from "../admin/app-actions";
import { looks } from "../admin/sentences";
import { isCallsDefinition, shownName } from "../core/calls-definition";
import { limitInForce } from "../core/limit-in-force";
import { optionalNameParameter, report } from "./command";
import type { Command } from "./command";
import {
  renderFacts,
  renderTable,
  showCount,
  showDuration,
  showLimit,
  showRate,
} from "../terminal/output";
import { showHeld, showLimitInForce } from "../terminal/limit-texts";
import type { Column, Screen } from "../terminal/output";

/** What the help says of the table. */
export const definitionsDetails = [
  "LIMIT: `4 of partner-api` is the narrowest limit that the definition shares, where it has none of its own. HELD: its tokens, and in brackets those of all definitions.",
  "`functions under partner-api` hold tokens of that limit. A call of a function is no task: DONE and the other counts leave it out.",
].join("\n");

/** `taskgate definitions` */
export const definitionsCommand: Command = {
  name: "definitions",
  group: "look",
  parameters: [optionalNameParameter],
  options: {},
  sentence: `${looks.definitions}, or shows all settings of one.`,
  details: definitionsDetails,
  examples: [
    { line: "taskgate definitions", sentence: "All definitions." },
    { line: "taskgate definitions greet", sentence: "All settings of one." },
  ],
  run: async (context) => {
    const [given] = context.args;
    const name = given === undefined ? undefined : take(readDefinitionName(given));
    const definitions = await context.admin().definitions(name);
    report(context, { definitions }, () => {
      const [only] = definitions;
      return name !== undefined && only !== undefined
        ? renderFacts(factsOf(only), context.output.columns)
        : renderDefinitions(definitions, context.output);
    });
  },
};

const columns: readonly Column<DefinitionReport>[] = [
  { title: "definition", value: (row) => shownName(row.name), tone: () => "strong" },
  { title: "limit", value: showLimitInForce, isNumber: true },
  { title: "held", value: showHeld, isNumber: true },
  {
    title: "running",
    value: ofTasks((row) => String(row.running)),
    isNumber: true,
    tone: (row) => (row.running > 0 ? "good" : undefined),
  },
  {
    title: "prefetched",
    value: ofTasks((row) => String(row.prefetched)),
    isNumber: true,
    isSpare: true,
  },
  { title: "ready", value: ofTasks((row) => showCount(row.ready)), isNumber: true },
  { title: "scheduled", value: ofTasks((row) => showCount(row.scheduled)), isNumber: true },
  { title: "waiting", value: ofTasks((row) => showCount(row.waiting)), isNumber: true },
  { title: "app", value: (row) => row.app ?? "", isSpare: true },
  { title: "done", value: ofTasks((row) => showCount(row.done)), isNumber: true, isSpare: true },
  {
    title: "dead",
    value: ofTasks((row) => showCount(row.dead)),
    isNumber: true,
    tone: (row) => (row.dead > 0 ? "bad" : undefined),
  },
  { title: "state", value: stateOf, tone: () => "accent", wraps: true },
];

/** A single app needs no name, so its column would be empty. */
function isOfAll({ title }: Column<DefinitionReport>): boolean {
  return title !== "app";
}

/** A count of tasks; of functions none: a call in an invocation is no task. */
function ofTasks(count: (row: DefinitionReport) => string): (row: DefinitionReport) => string {
  return (row) => (isCallsDefinition(row.name) ? "-" : count(row));
}

/** One line per definition; a sentence when there is none. */
export function renderDefinitions(
  definitions: readonly DefinitionReport[],
  screen: Screen,
): string {
  if (definitions.length === 0) {
    return "No definition is registered yet: a worker registers its own at its first run.";
  }
  const hasApp = definitions.some(({ app }) => app !== null);
  return renderTable(definitions, hasApp ? columns : columns.filter(isOfAll), screen);
}

function stateOf(definition: DefinitionReport): string {
  if (definition.paused) return "paused";
  if (definition.limit === 0) return "limit 0: nothing starts";
  if (definition.limit !== null && definition.held > definition.limit) return "limit lowered";
  if (definition.limit !== null && definition.held >= definition.limit && definition.ready > 0)
    return "limit reached";
  const full = definition.sharedLimits.find((row) => row.limit !== null && row.held >= row.limit);
  if (full !== undefined && definition.ready > 0) return `shared limit ${full.name} reached`;
  return definition.limitSource === "operator" ? "operator's limit" : "";
}

/** Claimed under a lease that is over. */
function lostOf({ claimed, running, prefetched }: DefinitionReport): number {
  return claimed - running - prefetched;
}

function factsOf(definition: DefinitionReport): (readonly [string, string])[] {
  const { name } = definition;
  return [
    ["definition", isCallsDefinition(name) ? `${name}: ${shownName(name)}` : name],
    ["state", stateOf(definition) || "running"],
    ...(definition.app === null ? [] : [["app", definition.app] as const]),
    ["limit", describeLimit(definition)],
    ["tokens held", String(definition.held)],
    ["rate", `${showRate(definition.rate)} (set by the ${definition.rateSource})`],
    ...definition.sharedLimits.map(
      ({ name: shared, limit, limitSource, held }) =>
        [
          `shared: ${shared}`,
          `${showLimit(limit)}, ${String(held)} held by all (set by the ${limitSource})`,
        ] as const,
    ),
    ["executions", String(definition.executions)],
    ...(isCallsDefinition(name)
      ? [["tasks", "none: functions hold the tokens in their invocations"] as const]
      : factsOfTasks(definition)),
    ["lease", showDuration(definition.leaseMs)],
    ["build", String(definition.build)],
    ["token fence", definition.tokenFence],
  ];
}

/** The limit in force, then the definition's own one. */
function describeLimit(definition: DefinitionReport): string {
  const own = `${showLimit(definition.limit)} (set by the ${definition.limitSource}; the code says ${showLimit(definition.codeLimit)})`;
  const { shared } = limitInForce(definition);
  return shared === null ? own : `${showLimitInForce(definition)}; its own: ${own}`;
}

function factsOfTasks(definition: DefinitionReport): (readonly [string, string])[] {
  const lost = lostOf(definition);
  return [
    ["running", String(definition.running)],
    ["prefetched", String(definition.prefetched)],
    ...(lost > 0
      ? [["lost", `${String(lost)}: the next worker or sweep takes them back`] as const]
      : []),
    ["ready", showCount(definition.ready)],
    [
      "scheduled",
      definition.nextDueMs === null
        ? showCount(definition.scheduled)
        : `${showCount(definition.scheduled)}, next due in ${showDuration(definition.nextDueMs)}`,
    ],
    ["waiting", showCount(definition.waiting)],
    [
      "done, dead, cancelled",
      [definition.done, definition.dead, definition.cancelled]
        .map((count) => showCount(count))
        .join(", "),
    ],
    ["attempts", `${String(definition.retryAttempts)} failed, ${String(definition.lostMax)} lost`],
    ["prefetch per token", String(definition.prefetchMax)],
  ];
}
