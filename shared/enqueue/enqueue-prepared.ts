import { inWhole } from "../core/error-places";
import { isCallsDefinition } from "../core/calls-definition";
import { InvalidArgumentError } from "../core/errors";
import { asOperationId } from "../core/ids";
import type { OperationId, TaskId, WaveId } from "../core/ids";
import { limits } from "../core/limits";
import type { Random } from "../ports/random";
import type { EnqueueTasksAnswer, NewTask, StoreTransaction, TaskStore } from "../ports/task-store";
import { bytesOf, callBytesMax } from "./call-size";

/** A request as the store takes it, with the definition it belongs to. */
export interface PreparedTask {
  definition: string;
  /** Blocked until it opens. */
  waveId?: WaveId;
  task: NewTask;
}

/** What became of one requested task. */
export interface Enqueued {
  /** Of a duplicate, replaced or not: the first task's id. */
  readonly taskId: TaskId;
  readonly outcome: "enqueued" | "duplicate" | "replaced";
}

/** What adding needs. */
export interface EnqueueServices {
  readonly store: Pick<TaskStore, "enqueueTasks">;
  readonly random: Random;
  /** Of the running code; tasks carry it. */
  readonly build: number;
}

/** How tasks are added. */
export interface EnqueueOptions {
  /** A transaction of the user's: the tasks exist when it commits. */
  readonly within?: StoreTransaction | undefined;
  /** `jsonTextOf` has written each payload: the store needn't look at it once more. */
  readonly arePayloadsWritten?: true;
  /** Of a call that is made as one, in any size: the store refuses one that is too large. */
  readonly operationId?: OperationId;
  /** The operator that adds them, for the audit; left out: the app itself. */
  readonly changedBy?: string;
  /** Why, for the audit. */
  readonly reason?: string;
  /** Makes each call, for example after the definition has been registered. */
  readonly call?: (
    definition: string,
    send: () => Promise<EnqueueTasksAnswer>,
  ) => Promise<EnqueueTasksAnswer>;
  /** Asked about so many tasks of a wave that is over. Default: refuse. */
  readonly onLate?: (waveId: WaveId, count: number) => "enqueue outside" | "refuse";
  /** Told of each call's answer, to leave hints. */
  readonly onAdded: (definition: string, answer: EnqueueTasksAnswer) => void;
}

/**
 * Adds tasks, any number: cut into calls of one definition and wave, of at most 10,000 tasks and 4 MiB. Answers in input
 * order. Without `within` each call is a transaction of its own and safe to repeat. Throws InvalidArgumentError when a wave
 * takes no tasks any more, and for the hidden definition of calls under limits.
 */
export async function enqueuePrepared(
  services: EnqueueServices,
  tasks: readonly PreparedTask[],
  options: EnqueueOptions,
): Promise<Enqueued[]> {
  const { operationId, call } = options;
  const results: Enqueued[] = new Array<Enqueued>(tasks.length);
  const entries = tasks.map((prepared, index) => ({ index, ...prepared }));
  for (const together of callsOf(entries)) {
    for (const piece of operationId === undefined ? piecesOf(together) : [together]) {
      const [first] = piece;
      if (first === undefined) continue;
      const { definition } = first;
      expectTasks(definition);
      const send = sender(services, { first, tasks: piece.map(({ task }) => task), options });
      const answer = await (call === undefined ? send() : call(definition, send)).catch(
        (error: unknown) => {
          throw inWhole(error, (at) => piece[at]?.index);
        },
      );
      expectAllOf(piece.length, answer, operationId);
      piece.forEach(({ index }, at) => {
        const taskId = answer.taskIds[at];
        const outcome = answer.outcomes[at];
        if (taskId !== undefined && outcome !== undefined) results[index] = { taskId, outcome };
      });
      options.onAdded(definition, answer);
    }
  }
  return results;
}

/** Are these tasks one call, which adds all of them or none, and is safe to repeat? */
export function isOneCall(tasks: readonly PreparedTask[]): boolean {
  const [together = [], ...others] = callsOf(tasks);
  return others.length === 0 && piecesOf(together).length <= 1;
}

/** No worker would ever look for them there. */
function expectTasks(definition: string): void {
  if (isCallsDefinition(definition))
    throw new InvalidArgumentError(
      `definition: expected one that has tasks (${definition}); this one holds the tokens of calls under limits`,
      { details: { field: "definition" } },
    );
}

/** A repeat is answered what the first call did: with other tasks it is no repeat, and adds nothing. */
function expectAllOf(
  tasks: number,
  { taskIds }: EnqueueTasksAnswer,
  operationId: OperationId | undefined,
): void {
  if (operationId === undefined || taskIds.length === tasks) return;
  throw new InvalidArgumentError(
    `operationId: was used by a call with ${countOf(taskIds.length)} (${operationId}), expected a new one for ${countOf(tasks)}`,
    { code: "TASKGATE_ARG_CONFLICT", details: { field: "operationId" } },
  );
}

const countOf = (tasks: number): string => (tasks === 1 ? "1 task" : `${String(tasks)} tasks`);

/** One call; made again, it is the same one. */
function sender(
  { store, random, build }: EnqueueServices,
  input: { first: PreparedTask; tasks: readonly NewTask[]; options: EnqueueOptions },
): () => Promise<EnqueueTasksAnswer> {
  const { first, tasks, options } = input;
  const { definition, waveId } = first;
  const { within, operationId = asOperationId(random.uuid()), onLate } = options;
  const { changedBy, reason, arePayloadsWritten } = options;
  const outside = {
    name: definition,
    build,
    tasks,
    operationId: within === undefined ? operationId : null,
    ...(arePayloadsWritten && { arePayloadsWritten }),
    ...(changedBy === undefined ? {} : { changedBy }),
    ...(reason === undefined ? {} : { reason }),
  };
  return async () => {
    if (waveId === undefined) return store.enqueueTasks(outside, within);
    const answer = await store.enqueueTasks({ ...outside, waveId }, within);
    if (answer.status === "late" && onLate?.(waveId, tasks.length) === "enqueue outside")
      return store.enqueueTasks(outside, within);
    expectInTime(answer, waveId);
    return answer;
  };
}

/** Tasks of one definition, and of one wave or none. In the order of their first ones. */
function callsOf<Entry extends PreparedTask>(entries: readonly Entry[]): Entry[][] {
  const calls = new Map<string, Entry[]>();
  for (const entry of entries) {
    // No id has a blank in it.
    const key = `${entry.waveId ?? ""} ${entry.definition}`;
    const call = calls.get(key) ?? [];
    call.push(entry);
    calls.set(key, call);
  }
  return [...calls.values()];
}

/** Tasks of one definition and wave as calls that each fit the store's bounds, in their order. */
export function piecesOf<Entry extends PreparedTask>(entries: readonly Entry[]): Entry[][] {
  const result: Entry[][] = [];
  let current: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const size = bytesOf(entry.task);
    if (
      current.length === limits.enqueueTasksMax ||
      (current.length > 0 && bytes + size > callBytesMax)
    ) {
      result.push(current);
      current = [];
      bytes = 0;
    }
    current.push(entry);
    bytes += size;
  }
  if (current.length > 0) result.push(current);
  return result;
}

/** Throws when a wave took no tasks any more. */
function expectInTime(answer: EnqueueTasksAnswer, waveId: WaveId): void {
  if (answer.status === "enqueued") return;
  throw new InvalidArgumentError(
    `Expected \`wave\` to be one that still takes tasks, got \`${waveId}\`: it was sealed or opened before, or its batch was cancelled; nothing was added to it`,
    { details: { field: "wave", wave: waveId } },
  );
}
