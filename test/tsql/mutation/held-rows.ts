import { requestOf } from "../cases/requests";
import { shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { startRequest, step } from "../../tsql-server/schedule/step";
import type { Connection } from "../../tsql-server/engine/connection";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { rowCases } from "./operation-cases";
import type { OperationCase } from "./operation-cases";
import { bounded, setUp } from "./set-up";

/*
 * What an operation does about a row that another session holds, and in which order it asks for rows: calls that take the same rows in
 * another order may meet it in a circle of waiters. Each row that it locks when it is alone is held by another connection, one
 * at a time: it waits, or it goes on without. With row versions, as in Azure SQL: a read that keeps nothing never waits.
 */

/** One line a row, in the order in which it asks for them: `U Task.PK_Task(3): waits, holding 4`. */
export function heldRows({ setup, call }: OperationCase, template: World): string[] {
  const prepared = setUp(setup, template);
  return rowsLockedBy(call, prepared).map(({ resource, mode }) => {
    const holding = heldMeanwhile(resource, call, prepared);
    const reaction = holding === undefined ? "goes on" : `waits, holding ${holding}`;
    return `${mode} ${resource.slice(rowPrefix.length)}: ${reaction}`;
  });
}

/**
 * These lines as they are recorded, those of one table together: `Task: U PK_Task(3) waits with 4, S PK_Task(5) goes on`. What
 * doesn't fit into a line of 190 characters stands in another one.
 * @throws Error for a line that heldRows doesn't make
 */
export function recordOf(rows: readonly string[]): string[] {
  const lines: { table: string; text: string }[] = [];
  for (const row of rows) {
    const [, mode = "", table = "", key = "", reaction = ""] = rowForm.exec(row) ?? [];
    if (mode === "") throw new Error(`Expected a line of heldRows, got ${row}`);
    const place = `${mode} ${key} ${reaction.replace(", holding", " with")}`;
    const last = lines.at(-1);
    const more = `${last?.text ?? ""}, ${place}`;
    if (last?.table === table && more.length <= lineMax) last.text = more;
    else lines.push({ table, text: `${table}: ${place}` });
  }
  return lines.map(({ text }) => text);
}

const rowForm = /^(\w+) (\w+)\.(.*): (goes on|waits, holding \d+)$/;
const lineMax = 190;

type Call = OperationCase["call"];

interface LockedRow {
  readonly resource: string;
  /** The one that is asked for first. */
  readonly mode: string;
}

function rowsLockedBy(call: Call, prepared: World): LockedRow[] {
  const world = bounded(prepared.fork());
  const rows = new Map<string, LockedRow>();
  world.locks.onTouch = (resource, mode) => {
    const isRow = resource.startsWith(rowPrefix) && !mode.startsWith("Range");
    if (isRow && !rows.has(resource)) rows.set(resource, { resource, mode });
  };
  run(world.connect(), call);
  return [...rows.values()];
}

/** How many rows it holds while it waits for one that another session holds; undefined: it doesn't wait. */
function heldMeanwhile(resource: string, call: Call, prepared: World): number | undefined {
  const world = bounded(prepared.fork());
  world.locks.tryAcquire({ session: world.connect().id, resource, mode: "X" });
  const connection = world.connect();
  run(connection, call);
  if (connection.state !== "waiting") return undefined;
  const locks = [...world.locks.locksOf(connection.id).keys()];
  return locks.filter((held) => held.startsWith(rowPrefix)).length;
}

/** To its end, or to where it waits. */
function run(connection: Connection, call: Call): void {
  startRequest(connection, requestOf(call));
  while (connection.state === "ready") step(connection);
}

const rowPrefix = "KEY Taskgate.";

/**
 * Held rows as checks of mutants: the same rows in the same order, and the same waits. Without row versions readers lock
 * and wait as well, which hints about indexes are for.
 */
export function heldRowChecks(engine: "versioned" | "locking" = "versioned"): Check[] {
  const shipped = shippedWorld(engines[engine]);
  return rowCases().map((operation) => {
    const watch = new CoverageWatch(shipped);
    const known = heldRows(operation, shipped);
    return {
      title: `held rows of ${operation.name}`,
      ran: watch.ran(),
      size: known.length,
      run: (template) => Promise.resolve(findOther(operation, known, template)),
    };
  });
}

function findOther(
  operation: OperationCase,
  known: readonly string[],
  template: World,
): Noticed | undefined {
  try {
    const found = heldRows(operation, template);
    const place = Math.max(found.length, known.length);
    for (let at = 0; at < place; at += 1) {
      if (found[at] === known[at]) continue;
      return { by: "held row", why: `expected ${String(known[at])}, found ${String(found[at])}` };
    }
    return undefined;
  } catch (error) {
    if (error instanceof SimulationError) return { by: "engine", why: error.message };
    throw error;
  }
}
