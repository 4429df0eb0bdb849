import { formatTable } from "../../../shared/terminal/text-table";
import type { EngineName } from "../../tsql-server/engine/options";
import { describeSituation, measureClaims } from "./claims";
import { measure, worldWithGhosts } from "./measure";
import type { Cost } from "./measure";
import { batching } from "./batch-scenarios";
import { operating, operatorsReading, purging } from "./operator-scenarios";
import { scheduling } from "./schedule-scenarios";
import { reading, writing } from "./scenarios";
import type { Scenario } from "./scenarios";
import { sharing } from "./shared-scenarios";

/** Every operation, in each situation whose costs are known. */
export const allScenarios: readonly Scenario[] = [
  ...writing,
  ...operating,
  ...sharing,
  ...purging,
  ...batching,
  ...scheduling,
  ...reading,
  ...operatorsReading,
];

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
      `log bytes ${cost.logBytes}`,
    ];
    return `${key}: ${counts.join(", ")}`;
  });
}

/** Modes of locks in the order of their strength, as columns. */
const modes = ["IS", "IX", "S", "U", "X"] as const;

/** Lines for people: what a call costs, and rows and bytes per task. */
export function formatCosts(table: CostTable, width: number): string[] {
  const titles = ["trips", ...modes, "other", "read", "written", "ghosts", "log bytes", "per task"];
  const columns = [
    { title: "call", isNumber: false },
    { title: "batch", isNumber: true },
    ...titles.map((title) => ({ title, isNumber: true })),
  ];
  const rows = Object.entries(table).map(([key, cost]) => {
    const parts = key.split(" | ");
    const batch = Number(parts.pop());
    return [parts.join(": "), batch, ...cellsOf(cost), Math.round(cost.logBytes / batch)];
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
    cost.logBytes,
  ];
}
