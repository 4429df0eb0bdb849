import { take } from "../admin/object-reader";
import { readDefinitionName } from "../admin/requests";
import type { DefinitionStatus } from "../ports/task-store";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";
import { renderFacts, renderTable, showCount, showDuration, showLimit, showRate } from "./output";
import type { Column } from "./output";

/** `taskgate definitions` */
export const definitionsCommand: Command = {
  name: "definitions",
  parameters: [],
  options: {
    name: { type: "string", valueName: "NAME", sentence: "Only this one, with all its settings." },
  },
  sentence: "Task definitions with their limits and settings.",
  run: async (context) => {
    const given = context.options["name"];
    const name = given === undefined ? undefined : take(readDefinitionName(given));
    const definitions = await (await context.admin()).definitions(name);
    report(context, { definitions }, () => {
      const [only] = definitions;
      const { columns } = context.output;
      return name !== undefined && only !== undefined
        ? renderFacts(factsOf(only), columns)
        : renderDefinitions(definitions, columns);
    });
    return exitCodes.ok;
  },
};

const columns: readonly Column<DefinitionStatus>[] = [
  { title: "definition", value: (row) => row.name },
  { title: "limit", value: (row) => showLimit(row.limit), isNumber: true },
  { title: "held", value: (row) => String(row.held), isNumber: true },
  { title: "running", value: (row) => String(row.running), isNumber: true },
  { title: "prefetched", value: (row) => String(row.prefetched), isNumber: true },
  { title: "ready", value: (row) => showCount(row.ready), isNumber: true },
  { title: "scheduled", value: (row) => showCount(row.scheduled), isNumber: true },
  { title: "waiting", value: (row) => showCount(row.waiting), isNumber: true },
  { title: "done", value: (row) => showCount(row.done), isNumber: true },
  { title: "dead", value: (row) => showCount(row.dead), isNumber: true },
  { title: "state", value: stateOf },
];

/** One line per definition; a sentence when there is none. */
export function renderDefinitions(
  definitions: readonly DefinitionStatus[],
  width: number | null,
): string {
  if (definitions.length === 0) {
    return "No definition is registered yet: a worker registers its own at its first run.";
  }
  return renderTable(definitions, columns, width);
}

function stateOf(definition: DefinitionStatus): string {
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
function lostOf({ claimed, running, prefetched }: DefinitionStatus): number {
  return claimed - running - prefetched;
}

function showLost(definition: DefinitionStatus): string {
  return `${String(lostOf(definition))}: the next worker or sweep takes them back`;
}

function factsOf(definition: DefinitionStatus): (readonly [string, string])[] {
  const codeLimit = `the code says ${showLimit(definition.codeLimit)}`;
  return [
    ["definition", definition.name],
    ["state", stateOf(definition) || "running"],
    [
      "limit",
      `${showLimit(definition.limit)} (set by the ${definition.limitSource}; ${codeLimit})`,
    ],
    ["tokens held", String(definition.held)],
    ["rate", `${showRate(definition.rate)} (set by the ${definition.rateSource})`],
    ...definition.sharedLimits.map(
      ({ name, limit, limitSource, held }) =>
        [
          `shared: ${name}`,
          `${showLimit(limit)}, ${String(held)} held by all (set by the ${limitSource})`,
        ] as const,
    ),
    ["executions", String(definition.executions)],
    ["running", String(definition.running)],
    ["prefetched", String(definition.prefetched)],
    ...(lostOf(definition) > 0 ? [["lost", showLost(definition)] as const] : []),
    ["ready", showCount(definition.ready)],
    [
      "scheduled",
      `${showCount(definition.scheduled)}, next due in ${showDuration(definition.nextDueMs)}`,
    ],
    ["waiting", showCount(definition.waiting)],
    [
      "done, dead, cancelled",
      [definition.done, definition.dead, definition.cancelled]
        .map((count) => showCount(count))
        .join(", "),
    ],
    ["lease", showDuration(definition.leaseMs)],
    ["attempts", `${String(definition.maxAttempts)} failed, ${String(definition.maxLost)} lost`],
    ["prefetch per token", String(definition.spareMax)],
    ["build", String(definition.build)],
    ["token fence", definition.tokenFence],
  ];
}
