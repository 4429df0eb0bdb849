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
import { killCases } from "../cases/list/kills";
import type { SetupStep } from "../cases/model-case";
import { endsOfKeys } from "./many-keys";
import { claimsAlone, manyPlaces } from "./many-places";
import { manyWaves } from "./many-waves";

/** An operation in a situation in which it has something to do. */
export interface OperationCase {
  /** The procedure, and a word more where there are several of it. */
  readonly name: string;
  readonly setup: readonly SetupStep[];
  readonly call: Call;
}

/** Every operation once at least. */
export function operationCases(): OperationCase[] {
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
    ...[...claimsAlone, ...endsOfKeys].map(({ name, setup, call }) => toCase(name, setup, call)),
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
