import { operations } from "../../../shared/store/operations";
import type { OperationName } from "../../../shared/store/operations";
import { toPascalCase } from "../../../shared/store/operations/operation";
import {
  advance,
  checkInvariants,
  enqueue,
  explain,
  listApps,
  listAudit,
  listBatches,
  listDefinitions,
  listExecutions,
  listFailures,
  listGroups,
  listSchedules,
  listSharedLimits,
  listStopped,
  listTasks,
  listWatermarks,
  readPace,
  readStatistics,
  namesOf,
  sweep,
} from "../cases/calls";
import type { Call } from "../cases/calls";
import { exampleCall } from "../cases/example-call";
import { killCases } from "../cases/list/kills";
import type { SetupStep } from "../cases/model-case";
import { endsOfKeys } from "./many-keys";
import { claimsAlone, manyPlaces } from "./many-places";
import { manyWaves } from "./many-waves";
import { manyRows } from "./many-rows";

/** An operation in a situation in which it has something to do. */
export interface OperationCase {
  /** The procedure, and a word more where there are several of it. */
  readonly name: string;
  readonly setup: readonly SetupStep[];
  readonly call: Call;
  /** The call is the operation's example. */
  readonly isExample?: boolean;
}

/** Every operation once at least: one without a case of its own is called by its example. */
export function operationCases(): OperationCase[] {
  const own = ownCases();
  const named = new Set(own.flatMap(({ call }) => namesOf(call)));
  const others = (Object.keys(operations) as OperationName[]).filter(
    (operation) => !named.has(toPascalCase(operation)),
  );
  return [
    ...own,
    ...others.map((operation) => ({
      ...toCase("example", busy(), exampleCall(operation, "a")),
      isExample: true,
    })),
  ];
}

function ownCases(): OperationCase[] {
  return [
    ...[...killCases, ...manyPlaces, ...manyWaves].map(({ name, setup, call }) =>
      toCase(name, setup, call),
    ),
    ...[
      checkInvariants,
      explain(3),
      listApps,
      listAudit,
      listBatches,
      listDefinitions,
      listExecutions,
      listFailures,
      listGroups,
      listSchedules,
      listSharedLimits,
      listStopped,
      listTasks("ready"),
      listWatermarks,
      readPace,
      readStatistics,
      sweep,
    ].map((call) => toCase("reads", busy(), call)),
  ];
}

/** Those, and some that are about rows only. */
export function rowCases(): OperationCase[] {
  return [
    ...operationCases(),
    ...[...claimsAlone, ...endsOfKeys, ...manyRows].map(({ name, setup, call }) =>
      toCase(name, setup, call),
    ),
  ];
}

/** What a user calls inside a transaction of its own. */
export function joiningCases(): OperationCase[] {
  const complete = killCases.find(({ name }) => name === "complete")?.call;
  const keyed = [{ group: "g" }, { group: "h" }, { dedupeKey: "l" }];
  return [
    toCase("joins", busy(), enqueue(keyed, { joinsTransaction: true })),
    toCase("joins", busy(), advance(0, keyed)),
    ...(complete === undefined ? [] : [toCase("joins", busy(), complete)]),
  ];
}

/** A definition with executions and tasks in each state. */
function busy(): readonly SetupStep[] {
  return killCases.find(({ name }) => name === "enqueue")?.setup ?? [];
}

function toCase(what: string, setup: readonly SetupStep[], call: Call): OperationCase {
  return { name: `${namesOf(call).join()} (${what})`, setup, call };
}
