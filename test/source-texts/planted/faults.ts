import type { ExecutionId } from "../../../shared/core/ids";
import type { CreateBatchAnswer } from "../../../shared/ports/task-store";
import type { StartExecutionAnswer } from "../../../shared/ports/task-store";
import { describeBatches } from "../../contract/batches.contract";
import { describeClaims } from "../../contract/claims.contract";
import { describeCompletion } from "../../contract/completion.contract";
import { describeDefinitions } from "../../contract/definitions.contract";
import { describeFailures } from "../../contract/failures.contract";
import { describeGroups } from "../../contract/groups.contract";
import { describeReclaim } from "../../contract/reclaim.contract";
import { describeTokens } from "../../contract/tokens.contract";
import { without } from "../../support/planted-setup";
import type { ContractFault } from "./expect-failures";

/** What jest says of a value that isn't the one. */
const another = /^Error: expect\(received\)/;

const tokenFaults: readonly ContractFault[] = [
  {
    numbers: "S0.1, S0.2",
    what: "who is denied is told to start",
    suite: describeTokens,
    tests: /^a limit of 2 lets 2 /,
    found: another,
    change: (store) => ({
      startExecution: async (input) => {
        const answer = await store.startExecution(input);
        return answer.status === "limited" ? { ...answer, status: "started" } : answer;
      },
    }),
  },
  {
    numbers: "S0.3, S0.4, S0.20",
    what: "an operator's limit doesn't act",
    suite: describeTokens,
    tests: /\(S0\.3, S0\.20\)|^a limit that is lowered .* 012,/,
    found: /^Error: expect\(received\)|expected an execution, got limited/,
    change: (store) => ({ setLimit: (input) => store.setLimit({ ...input, limit: "code" }) }),
  },
  {
    numbers: "S0.5, S0.6",
    what: "an operator's limit is one too many",
    suite: describeTokens,
    tests: /\(S0\.5\)|^a limit of 0 /,
    found: another,
    change: (store) => ({
      setLimit: (input) =>
        store.setLimit(
          typeof input.limit === "number" ? { ...input, limit: input.limit + 1 } : input,
        ),
    }),
  },
  {
    numbers: "S0.7",
    what: "leases last ten times as long",
    suite: describeTokens,
    tests: /^a silent holder lives exactly/,
    found: another,
    change: (store) => ({
      registerDefinition: (input) =>
        store.registerDefinition({
          ...input,
          settings: { ...input.settings, leaseMs: 10 * input.settings.leaseMs },
        }),
    }),
  },
  {
    numbers: "S0.9, S0.10",
    what: "a return gives back whatever was granted last",
    suite: describeTokens,
    tests: /^a zombie|^a stranger/,
    found: another,
    change: (store) => {
      const last: { executionId: ExecutionId | null } = { executionId: null };
      return {
        startExecution: async (input) => {
          const answer = await store.startExecution(input);
          last.executionId = answer.executionId ?? last.executionId;
          return answer;
        },
        releaseTokens: (input) =>
          store.releaseTokens({ ...input, executionId: last.executionId ?? input.executionId }),
      };
    },
  },
  {
    numbers: "S0.14",
    what: "a denial of one definition is an answer to all",
    suite: describeTokens,
    tests: /\(S0\.14\)/,
    found: another,
    change: (store) => {
      const denial: { answer?: StartExecutionAnswer } = {};
      return {
        startExecution: async (input) => {
          const answer = denial.answer ?? (await store.startExecution(input));
          if (answer.status === "limited") denial.answer = answer;
          return answer;
        },
      };
    },
  },
  {
    numbers: "S0.17",
    what: "free and held are mixed up in the text",
    suite: describeTokens,
    tests: /^a token text read as/,
    found: another,
    tells: (opened) => ({
      readTokens: async (name) =>
        (await opened.readTokens(name)).replace(/S:(\d)/g, (_, status: string) =>
          status === "0" ? "S:1" : "S:0",
        ),
    }),
  },
  {
    numbers: "S0.18",
    what: "every registration makes a definition of its own",
    suite: describeDefinitions,
    tests: /^ten first registrations/,
    found: another,
    change: (store) => {
      let count = 0;
      return {
        registerDefinition: (input) => {
          count += 1;
          return store.registerDefinition({ ...input, name: `${input.name} ${String(count)}` });
        },
      };
    },
  },
];

/** An enqueued task loses a field on the way. */
const claimFaults: readonly ContractFault[] = [
  {
    numbers: "S1.1",
    what: "a claim takes five at most",
    suite: describeClaims,
    tests: /\(S1\.1, S1\.5\)|^work with N = 1000/,
    found: another,
    change: (store) => ({
      work: (input) => store.work({ ...input, want: Math.min(input.want, 5) }),
    }),
  },
  {
    numbers: "S1.2, S2.3",
    what: "priorities are forgotten",
    suite: describeClaims,
    tests: /\(S1\.2, S2\.3\)/,
    found: another,
    change: (store) => ({
      enqueueTasks: (input, within) =>
        store.enqueueTasks(
          { ...input, tasks: input.tasks.map((task) => without(task, "priority")) },
          within,
        ),
    }),
  },
  {
    numbers: "S1.3, S1.4, S1.5, S1.8, S1.9",
    what: "groups are forgotten",
    suite: describeGroups,
    tests: /^a group of 1 slots|^a group's tasks are ready|\(S1\.5, S1\.9\)|\(S1\.3, S1\.8\)/,
    found: /^Error: expect|^Error: Expected|^TypeError/,
    change: (store) => ({
      enqueueTasks: (input, within) =>
        store.enqueueTasks(
          { ...input, tasks: input.tasks.map((task) => without(task, "group")) },
          within,
        ),
    }),
  },
  {
    numbers: "S1.10, S2.6, S2.8, S2.11, S0.8",
    what: "leases last ten times as long",
    suite: describeReclaim,
    tests: /\((?:S1\.10|S2\.6|S2\.8|S2\.11|S0\.8, S2\.6)\)/,
    found: /^Error: expect|^Error: .*expected/i,
    change: (store) => ({
      registerDefinition: (input) =>
        store.registerDefinition({
          ...input,
          settings: { ...input.settings, leaseMs: 10 * input.settings.leaseMs },
        }),
    }),
  },
];

const endFaults: readonly ContractFault[] = [
  {
    numbers: "S2.9",
    what: "a refused completion is not told",
    suite: describeCompletion,
    tests: /\(S2\.9\)/,
    found: another,
    change: (store) => ({
      work: async (input) => ({ ...(await store.work(input)), refused: [] }),
    }),
  },
  {
    numbers: "S2.10",
    what: "attempts are not capped",
    suite: describeFailures,
    tests: /\(S2\.10\)/,
    found: another,
    change: (store) => ({
      registerDefinition: (input) =>
        store.registerDefinition({
          ...input,
          settings: { ...input.settings, retryAttempts: 1_000 },
        }),
    }),
  },
  {
    numbers: "S3.3",
    what: "a call that completes claims nothing",
    suite: describeCompletion,
    tests: /\(S3\.3\)/,
    found: another,
    change: (store) => ({
      work: (input) => store.work(input.done.length > 0 ? { ...input, want: 0 } : input),
    }),
  },
  {
    numbers: "S3.7",
    what: "failures are written without their errors",
    suite: describeFailures,
    tests: /^a failed task is scheduled again/,
    found: another,
    change: (store) => ({
      failTasks: (input) =>
        store.failTasks({
          ...input,
          failures: input.failures.map((failure) => ({ ...failure, error: "" })),
        }),
    }),
  },
  {
    numbers: "S3.8",
    what: "done tasks are never kept",
    suite: describeCompletion,
    tests: /\(S3\.8\)/,
    found: /^Error: (expect|Task)/,
    change: (store) => ({
      registerDefinition: (input) =>
        store.registerDefinition({
          ...input,
          settings: { ...input.settings, retainDoneMs: 0 },
        }),
    }),
  },
];

const waveFaults: readonly ContractFault[] = [
  {
    numbers: "S4.1, S4.2, S4.8, S4.12, S4.13, S4.14",
    what: "tasks don't wait for their wave",
    suite: describeBatches,
    tests: /\((?:S4\.1, S4\.2|S4\.8|S4\.12|S4\.13, S4\.14)\)/,
    found: another,
    change: (store) => ({
      enqueueTasks: (input, within) => store.enqueueTasks(without(input, "waveId"), within),
    }),
  },
  {
    numbers: "S4.6, S4.7",
    what: "every batch is the first one",
    suite: describeBatches,
    tests: /\(S4\.[67]\)/,
    found: another,
    change: (store) => {
      let first: Promise<CreateBatchAnswer> | undefined;
      return { createBatch: (input) => (first ??= store.createBatch(input)) };
    },
  },
  {
    numbers: "S4.9",
    what: "waves are never sealed",
    suite: describeBatches,
    tests: /\(S4\.9\)/,
    found: another,
    change: (store) => ({ startBatch: (input) => store.startBatch({ ...input, seal: false }) }),
  },
  {
    numbers: "S4.11",
    what: "a batch goes on whatever its policy",
    suite: describeBatches,
    tests: /\(S4\.11\)/,
    found: another,
    change: (store) => ({
      createBatch: (input) => store.createBatch({ ...input, failurePolicy: "continue" }),
    }),
  },
];

/** Behaviours that the contract itself shows on every store: for each a fault that fails its tests. */
export const contractFaults: readonly ContractFault[] = [
  ...tokenFaults,
  ...claimFaults,
  ...endFaults,
  ...waveFaults,
];
