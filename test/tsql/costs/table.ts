import { formatTable } from "../../../shared/terminal/text-table";
import { operations } from "../../../shared/store/operations";
import type { OperationName } from "../../../shared/store/operations";
import type { Tally } from "../../tsql-server/engine/meter";
import type { EngineName } from "../../tsql-server/engine/options";
import { callExample, makeExampleRows } from "../../support/example-input";
import { describeSituation, measureClaims } from "./claims";
import { measure, worldWithGhosts } from "./measure";
import type { Cost } from "./measure";
import { batching } from "./batch-scenarios";
import { operating, operatorsReading, purging } from "./operator-scenarios";
import { scheduling } from "./schedule-scenarios";
import type { Scenario } from "./scenario";
import { reading, writing } from "./scenarios";
import { sharing } from "./shared-scenarios";
import { sparing } from "./sparing-scenarios";

/** Each situation whose costs are known. */
const ownScenarios: readonly Scenario[] = [
  ...writing,
  ...operating,
  ...sharing,
  ...purging,
  ...batching,
  ...scheduling,
  ...sparing,
  ...reading,
  ...operatorsReading,
];

/** Every operation: one without a scenario is called by its example. */
export const allScenarios: readonly Scenario[] = [
  ...ownScenarios,
  ...(Object.keys(operations) as OperationName[])
    .filter((name) => !ownScenarios.some(({ operation }) => operation === name))
    .map(exampleScenario),
];

function exampleScenario(operation: OperationName): Scenario {
  return {
    operation,
    what: "",
    batches: [1],
    prepare: async ({ store, name }) => {
      const rows = await makeExampleRows(store, name);
      return () => callExample(store, operation, rows);
    },
  };
}

/** Costs by `operation: what, batch`. */
export type CostTable = Readonly<Record<string, Cost>>;

/** Counts every scenario on one engine; the same numbers each time. */
export async function measureAll(engine: EngineName): Promise<CostTable> {
  const table: Record<string, Cost> = {};
  const template = worldWithGhosts(engine);
  for (const { operation, what, batches, prepare } of allScenarios) {
    for (const batch of batches) {
      table[keyOf(operation, what, batch)] = await measure(template, batch, prepare);
    }
  }
  for (const { situation, batch, cost } of await measureClaims(engine, [1, 10, 100])) {
    table[keyOf("work", `claims: ${describeSituation(situation)}`, batch)] = cost;
  }
  return table;
}

/** The name of a row. */
export function keyOf(operation: string, what: string, batch: number): string {
  return [operation, what, String(batch)].filter((part) => part !== "").join(" | ");
}

/** A table as it is recorded: a line for each call, `setLimit | from 4 to 8 | 1: trips 1, locks IS 1 IX 3, read 13, ..`. */
export function recordOf(table: CostTable): string[] {
  return Object.entries(table).map(([key, cost]) => {
    const locks = Object.entries(cost.locks).map(([mode, count]) => ` ${mode} ${count}`);
    const counts = [
      `trips ${cost.roundTrips}`,
      `locks${locks.length === 0 ? " none" : locks.join("")}`,
      `read ${cost.rowsRead}`,
      `written ${cost.rowsWritten}`,
      `ghosts ${cost.ghosts}`,
      ...tallyOf(cost.tally),
    ];
    return `${key}: ${counts.join(", ")}`;
  });
}

/** What isn't 0 of it; the rows that others may wait for are those of a definition, a shared limit and a rate. */
function tallyOf(tally: Tally): string[] {
  const counts: [string, number][] = [
    ["log bytes", tally.logBytes],
    ["version bytes", tally.versionBytes],
    ["statements", tally.statements],
    ["in functions", tally.functionStatements],
    ["index writes", tally.indexWrites],
    ["seeks", tally.seeks],
    ["commits", tally.commits],
    ["passes", tally.passes],
    ...gates.map((table): [string, number] => [
      `${table} held`,
      tally.heldMax.get(`Taskgate.${table}`) ?? 0,
    ]),
  ];
  return counts.filter(([, count]) => count > 0).map(([name, count]) => `${name} ${count}`);
}

const gates = ["TaskDefinition", "SharedLimit", "RateBucket"] as const;

/** Modes of locks in the order of their strength, as columns. */
const modes = ["IS", "IX", "S", "U", "X"] as const;

/** Lines for people: what a call costs, and bytes of log per task. */
export function formatCosts(table: CostTable, width: number): string[] {
  const titles = [
    ...["trips", ...modes, "other", "read", "written", "ghosts", "stmts", "in fns", "index"],
    ...["seeks", "held", "passes", "versions", "log bytes", "per task"],
  ];
  const columns = [
    { title: "call", isNumber: false },
    { title: "batch", isNumber: true },
    ...titles.map((title) => ({ title, isNumber: true })),
  ];
  const rows = Object.entries(table).map(([key, cost]) => {
    const parts = key.split(" | ");
    const batch = Number(parts.pop());
    return [parts.join(": "), batch, ...cellsOf(cost), Math.round(cost.tally.logBytes / batch)];
  });
  return formatTable({ title: "Costs of a call in the model", columns, rows }, width);
}

function cellsOf(cost: Cost): number[] {
  const known: readonly string[] = modes;
  const others = Object.entries(cost.locks).filter(([mode]) => !known.includes(mode));
  return [
    cost.roundTrips,
    ...modes.map((mode) => cost.locks[mode] ?? 0),
    others.reduce((sum, [, count]) => sum + count, 0),
    cost.rowsRead,
    cost.rowsWritten,
    cost.ghosts,
    cost.tally.statements,
    cost.tally.functionStatements,
    cost.tally.indexWrites,
    cost.tally.seeks,
    Math.max(0, ...gates.map((table) => cost.tally.heldMax.get(`Taskgate.${table}`) ?? 0)),
    cost.tally.passes,
    cost.tally.versionBytes,
    cost.tally.logBytes,
  ];
}
