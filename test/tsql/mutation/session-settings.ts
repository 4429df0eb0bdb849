import { reading, toCamelCase } from "../../../shared/store/operations/operation";
import { namesOf } from "../cases/calls";
import { requestOf } from "../cases/requests";
import type { Settings } from "../../tsql-server/engine/connection";
import { shippedFiles, shippedWorld } from "../shipped/shipped-world";
import { engines } from "../shipped/engines";
import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { startRequest, step } from "../../tsql-server/schedule/step";
import { CoverageWatch } from "./check";
import type { Check, Noticed } from "./check";
import { operationCases } from "./operation-cases";
import type { OperationCase } from "./operation-cases";
import { setUp } from "./set-up";

/*
 * A connection may come with settings of its earlier user, and a user's own transaction with any. So every operation
 * sets what it relies on. Without row versions readers take locks of rows, too: there it is looked at.
 */

/** Unlike what any operation sets. */
const foreign: Readonly<Settings> = {
  isNoCount: false,
  isXactAbort: false,
  isImplicit: false,
  isolation: "SERIALIZABLE",
  lockTimeoutMs: 77_000,
  deadlockPriority: 3,
};

const low = -5;

/** Changes that rather die in a circle of waiters than a worker's call, as every read does. */
const modestChanges = [
  "CancelBatch",
  "CancelTasks",
  "FireSchedule",
  "PromoteScheduled",
  "PumpBatch",
  "Purge",
  "ReclaimExpired",
  "RedriveTasks",
  "RescheduleTasks",
  "RollUpStatistics",
];

/** Of a change that is called by its example its text says it, and here is seen that it holds at each lock. */
function isModest(name: string, isExample: boolean): boolean {
  if (reading.test(toCamelCase(name)) || modestChanges.includes(name)) return true;
  if (!isExample) return false;
  const file = shippedFiles().find((one) => one.name === `procedures/${name}.sql`);
  return file?.text.includes("SET DEADLOCK_PRIORITY LOW") === true;
}

/** What an operation must have set wherever it may wait; `mayTimeOut`: its header names error 1222. */
export function expectedSettings(
  { call, isExample = false }: OperationCase,
  mayTimeOut: boolean,
): Settings {
  const yields = namesOf(call).some((name) => isModest(name, isExample));
  return {
    isNoCount: true,
    isXactAbort: true,
    isImplicit: false,
    isolation: "READ COMMITTED",
    lockTimeoutMs: mayTimeOut ? 2_000 : foreign.lockTimeoutMs,
    deadlockPriority: yields ? low : foreign.deadlockPriority,
  };
}

/** The settings at each lock that an operation takes in a session with foreign ones; different ones once each. */
export function settingsAtLocks({ setup, call }: OperationCase, template: World): Settings[] {
  const world = setUp(setup, template);
  const connection = world.connect();
  connection.settings = { ...foreign };
  const seen = new Map<string, Settings>();
  startRequest(connection, requestOf(call));
  while (connection.state === "ready") {
    const settings = { ...connection.settings };
    seen.set(JSON.stringify(settings), settings);
    step(connection);
  }
  return [...seen.values()];
}

/** Operations as checks of mutants: nowhere do they wait under settings under which shipped files don't. */
export function settingsChecks(): Check[] {
  const shipped = shippedWorld(engines.locking);
  return operationCases().map((operation) => {
    const watch = new CoverageWatch(shipped);
    const known = settingsAtLocks(operation, shipped).map((settings) => JSON.stringify(settings));
    return {
      title: `settings of ${operation.name}`,
      ran: watch.ran(),
      size: 1,
      run: (template) => Promise.resolve(findOthers(operation, known, template)),
    };
  });
}

function findOthers(
  operation: OperationCase,
  known: readonly string[],
  template: World,
): Noticed | undefined {
  try {
    const found = settingsAtLocks(operation, template).map((settings) => JSON.stringify(settings));
    const other = found.find((settings) => !known.includes(settings));
    if (other !== undefined) return { by: "settings", why: `it waits under ${other}` };
    // It may have failed before its first lock.
    const missing = known.find((settings) => !found.includes(settings));
    return missing === undefined
      ? undefined
      : { by: "settings", why: `it never comes to ${missing}` };
  } catch (error) {
    if (error instanceof SimulationError) return { by: "engine", why: error.message };
    throw error;
  }
}
