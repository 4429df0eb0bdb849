import type { ShownFacts } from "../admin/explain-report";
import { StoreForbiddenError } from "../core/errors";
import type { TaskFacts } from "../ports/task-store";
import { printableJson } from "../terminal/text-width";

/** A task as a line of JSON: what `taskgate export` writes, and what `taskgate enqueue --from` makes of it. */

/** Members of a task in an enqueue, not checked yet. */
export type TaskMembers = Readonly<Record<string, unknown>>;

/**
 * One line. Payload and result stand in it as they are stored, so that no number is written in another way; a line break between
 * their parts becomes a blank, and a sign that a terminal acts on is written by its number. `dueAt`: when a scheduled one may start.
 */
export function exportedLine(facts: TaskFacts, dueAt: string | null = null): string {
  const { group } = facts;
  const members = {
    task: facts.task,
    definition: facts.definition,
    kind: facts.kind,
    state: facts.state,
    priority: facts.priority,
    createdAt: facts.createdAt,
    runAt: facts.state === "scheduled" ? (dueAt ?? undefined) : undefined,
    endedAt: facts.endedAt,
    failedCount: facts.failedCount,
    lostCount: facts.lostCount,
    error: facts.error ?? undefined,
    dedupeKey: facts.dedupeKey ?? undefined,
    group: group?.key,
    groupScope: group?.isGlobal === true ? "global" : undefined,
  };
  const result = facts.result ?? null;
  const ending = result === null ? "" : `,"result":${onOneLine(result)}`;
  return printableJson(
    `${JSON.stringify(members).slice(0, -1)},"payload":${onOneLine(facts.payload ?? "null")}${ending}}`,
  );
}

/** Throws StoreForbiddenError for a task whose payload or result the caller may not see: the line would tell that it has none. */
export function requireShown({ task, ...facts }: ShownFacts): void {
  const { payload, payloadBytes = null, result = null, resultBytes = null } = facts;
  const isHidden =
    (payload === null && payloadBytes !== null) || (result === null && resultBytes !== null);
  if (!isHidden) return;
  throw new StoreForbiddenError(
    `The sign-in may not see the payload and the result of task ${task}: an export wants the app role Taskgate.Payloads or Taskgate.Operator`,
  );
}

/** In JSON a line break stands between parts only: inside a text it is written as \n. */
function onOneLine(json: string): string {
  return json.replaceAll(/[\r\n]+/g, " ");
}

const exportedNames = ["task", "definition", "kind", "state", "payload"];

/** What makes the same task again of a line that an export has written; null: it is another line. */
export function taskOfExported(line: unknown): TaskMembers | null {
  if (typeof line !== "object" || line === null) return null;
  if (!exportedNames.every((name) => Object.hasOwn(line, name))) return null;
  const { payload, kind, priority, dedupeKey, group, groupScope, runAt } = line as TaskMembers;
  const members = { payload, kind, priority, dedupeKey, group, groupScope, runAt };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
