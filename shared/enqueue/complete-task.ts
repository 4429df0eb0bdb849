import { InvalidArgumentError } from "../core/errors";
import { messageOf } from "../core/foreign-value";
import { keyOf } from "../core/payload-key";
import { cleanText } from "../core/text";
import type { KindRules, NewTask } from "../ports/task-store";

/** A kind as far as an enqueue needs it: the rules that the database knows, too, and the function that only the code has. */
export interface RuledKind {
  readonly rules: KindRules;
  readonly groupKey: ((payload: never) => string | null | undefined) | null;
}

/** Characters of what the code throws that an answer shows. */
const reasonLengthMax = 400;

/** What a kind's rules are applied to. */
export interface CompletedCall {
  /** Of a wave: then no delay. */
  readonly isBlocked: boolean;
  /** The payload as the caller has it; left out: it is read from its text. */
  readonly payload?: unknown;
}

/**
 * Adds what the kind's code says where the caller said nothing: group, dedupe key, priority, delay. Throws
 * InvalidArgumentError when the payload has no key at a path, the caller names another key than the payload's,
 * or says how long a key is held where there is none.
 */
export function completeTask(task: NewTask, kind: RuledKind | null, call: CompletedCall): NewTask {
  if (kind === null) return task;
  const { rules } = kind;
  const { group: givenGroup, dedupeKey: givenKey, ...rest } = task;
  const group = rules.isGroupComputed
    ? givenGroup === undefined
      ? computedGroup(task, kind, call)
      : givenGroup
    : keyByPath("group", { path: rules.groupBy, said: givenGroup ?? null, task, rules });
  const dedupeKey = keyByPath("dedupeKey", {
    path: rules.dedupeBy,
    said: givenKey ?? null,
    task,
    rules,
  });
  if (dedupeKey === null) refuseWithoutKey(task);
  const window = givenKey === undefined && dedupeKey !== null ? rules.dedupeMs : null;
  const dedupeMs = task.dedupeMs ?? window;
  const priority = task.priority ?? rules.priority;
  const isTimed = task.runInMs !== undefined || task.runAt !== undefined || call.isBlocked;
  return {
    ...rest,
    // Where the code computes the group, null says that it did.
    ...(group === null && !rules.isGroupComputed ? {} : { group }),
    ...(dedupeKey === null ? {} : { dedupeKey }),
    ...(dedupeMs === null ? {} : { dedupeMs }),
    ...(priority === null ? {} : { priority }),
    ...(isTimed || rules.runInMs === null ? {} : { runInMs: rules.runInMs }),
  };
}

function refuseWithoutKey(task: NewTask): void {
  for (const field of ["dedupeMs", "onDuplicate"] as const)
    if (task[field] !== undefined)
      throw new InvalidArgumentError(
        `${field}: expected it only together with dedupeKey (${String(task[field])})`,
        { details: { field } },
      );
}

function computedGroup(task: NewTask, kind: RuledKind, { payload }: CompletedCall): string | null {
  if (task.payload === null) return null;
  const given: unknown = payload ?? JSON.parse(task.payload);
  try {
    return kind.groupKey?.(given as never) ?? null;
  } catch (error) {
    const expected = `a key that the code of kind ${kind.rules.kind} computes from the payload`;
    throw new InvalidArgumentError(
      `group: expected ${expected}; it threw: ${cleanText(messageOf(error), reasonLengthMax)}`,
      { details: { field: "group" }, cause: error },
    );
  }
}

function keyByPath(
  field: string,
  question: { path: string | null; said: string | null; task: NewTask; rules: KindRules },
): string | null {
  const { path, said, task, rules } = question;
  if (path === null) return said;
  const found = keyOf(task.payload, path);
  if ("problem" in found) throw new InvalidArgumentError(found.problem, { details: { field } });
  if (said === null || said === found.key) return found.key;
  throw new InvalidArgumentError(
    `${field}: expected nothing, or what the payload of kind ${rules.kind} has at ${path} (${said})`,
    { code: "TASKGATE_ARG_RULE", details: { field } },
  );
}
