import { compareTexts } from "../../core/text";
import { InvalidArgumentError } from "../../core/errors";
import { limits } from "../../core/limits";
import { keyOf } from "../../core/payload-key";
import type {
  EnqueueTasksInput,
  KindRules,
  NewTask,
  RegisterDefinitionInput,
} from "../../ports/task-store";
import { invalidArgument, left } from "./arguments";

import type { DefinitionRow } from "./state";

/** _kinds_problem: what `checkRegistration` leaves to the databases. */
export function expectKinds(kinds: readonly KindRules[]): void {
  const shown = ` (${left(JSON.stringify(kinds), 200)})`;
  if (kinds.length > limits.kindsMax)
    throw invalidArgument(`kinds: expected at most 1000 (${String(kinds.length)})`);
  if (new Set(kinds.map(({ kind }) => kind)).size < kinds.length)
    throw invalidArgument(`kinds: expected each name once${shown}`);
  if (kinds.some((rules) => rules.isGroupComputed && rules.groupBy !== null))
    throw invalidArgument(
      `kinds: expected isGroupComputed true or false, and true only without groupBy${shown}`,
    );
  if (kinds.some((rules) => rules.dedupeMs !== null && rules.dedupeBy === null))
    throw invalidArgument(
      `kinds: expected dedupeMs of 1..3153600000000, only with dedupeBy${shown}`,
    );
}

/** _write_kinds: a kind without rules is forgotten; those that aren't named stay. */
export function writeKinds(
  definition: DefinitionRow,
  { kinds = [] }: RegisterDefinitionInput,
): void {
  for (const rules of kinds) {
    definition.kinds.delete(rules.kind);
    const { groupBy, isGroupComputed, priority, runInMs, dedupeBy } = rules;
    if (isGroupComputed || [groupBy, priority, runInMs, dedupeBy].some((rule) => rule !== null))
      definition.kinds.set(rules.kind, rules);
  }
}

/** All rules, as the audit writes them. */
export function describeKinds(definition: DefinitionRow): string {
  const texts = [...definition.kinds.values()]
    .sort((a, b) => compareTexts(a.kind, b.kind))
    .map(({ kind, groupBy, isGroupComputed, priority, runInMs, dedupeBy, dedupeMs }) => {
      const group = isGroupComputed ? "code" : groupBy;
      const window = dedupeMs === null ? "" : `/${String(dedupeMs)}`;
      return [
        kind,
        group === null ? "" : ` group=${group}`,
        priority === null ? "" : ` priority=${String(priority)}`,
        runInMs === null ? "" : ` run_in_ms=${String(runInMs)}`,
        dedupeBy === null ? "" : ` dedupe=${dedupeBy}${window}`,
      ].join("");
    });
  return texts.length === 0 ? "none" : left(texts.join(", "), 400);
}

/** _apply_kinds: what the code says of the entries' kinds, where the caller said nothing. Throws with the first problem. */
export function applyKinds(definition: DefinitionRow, input: EnqueueTasksInput): NewTask[] {
  const isStrict = input.build === 0 || input.build === definition.build;
  return input.tasks.map((task, index) => {
    const rules = definition.kinds.get(task.kind ?? definition.name);
    if (rules === undefined) return task;
    const call = {
      at: `tasks[${String(index)}].`,
      isStrict,
      isBlocked: input.waveId !== undefined,
    };
    return applyRules(task, rules, call);
  });
}

interface Call {
  readonly at: string;
  readonly isStrict: boolean;
  readonly isBlocked: boolean;
}

function applyRules(task: NewTask, rules: KindRules, call: Call): NewTask {
  const { group: given, dedupeKey: givenKey, ...rest } = task;
  if (rules.isGroupComputed && given === undefined) {
    throw ruleBroken(
      `${call.at}group: expected a key, or null for none: the code of kind ${rules.kind} computes it (nothing)`,
    );
  }
  const keyAt = (field: string, path: string | null, said: string | null): string | null => {
    if (path === null) return said;
    const found = keyOf(task.payload, path);
    if ("problem" in found) throw invalidArgument(`${call.at}${found.problem}`);
    if (!call.isStrict || said === null || said === found.key) return said ?? found.key;
    throw ruleBroken(
      `${call.at}${field}: expected nothing, or what the payload of kind ${rules.kind} has at ${path} (${said})`,
    );
  };
  const group = keyAt("group", rules.groupBy, given ?? null);
  const dedupeKey = keyAt("dedupeKey", rules.dedupeBy, givenKey ?? null);
  const isComputed = givenKey === undefined && dedupeKey !== null;
  const dedupeMs = task.dedupeMs ?? (isComputed ? rules.dedupeMs : null);
  const priority = task.priority ?? rules.priority;
  const isTimed = task.runInMs !== undefined || task.runAt !== undefined || call.isBlocked;
  return {
    ...rest,
    ...(group === null ? {} : { group }),
    ...(dedupeKey === null ? {} : { dedupeKey }),
    ...(dedupeMs === null ? {} : { dedupeMs }),
    ...(priority === null ? {} : { priority }),
    ...(isTimed || rules.runInMs === null ? {} : { runInMs: rules.runInMs }),
  };
}

/** TG424: what the kind's code says was left out, or contradicted. */
function ruleBroken(message: string): InvalidArgumentError {
  return new InvalidArgumentError(message, { code: "TASKGATE_ARG_RULE" });
}
