import { compareTexts, firstLine } from "../core/text";
import type { TaskId } from "../core/ids";
import type { EqualFailures } from "../ports/task-store";

/**
 * Failures put together although their errors name different ids: numbers, UUIDs and long hexadecimal texts differ from task
 * to task, and count as equal. A status of HTTP is a cause: 400 stays so for good, 503 may not.
 */

/** Dead tasks of one definition and kind whose errors are alike. */
export interface FailureGroup extends Omit<EqualFailures, "error" | "taskIds"> {
  /** The error of the newest one. */
  readonly error: string;
  /** The error with `#` where errors of the group may differ: the name of the group. */
  readonly like: string;
  /** The newest one. */
  readonly example: TaskId;
}

/** A group with its tasks, newest first. */
export interface FailureGroupTasks {
  readonly group: FailureGroup;
  readonly taskIds: readonly TaskId[];
}

/** Characters of an error that `list_failures` tells. */
const errorShownMax = 300;
/** An error that tells nothing. */
const noError = "(no error was told)";

const varying: readonly RegExp[] = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi,
  /\b0x[0-9a-f]+\b/gi,
  /\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b/gi,
];
/** Words before a number that make it a status: `answered 503`, `status code 400`, `HTTP/1.1 502`, `error: 404`. */
const statusWord =
  /HTTP(?:\/[\d.]+)?|status|code|errors?|answer(?:s|ed)?|respon(?:ds?|ded|se)|returns?|returned|got|gave|sa(?:ys|id)|with/;
/**
 * 400 to 599 behind such a word, alone in brackets or at the beginning, or another number. `order 450` is no status, nor are
 * `orders/450`, `v4.50` and `1,450`.
 */
const numbers = new RegExp(
  `(?<=^|[(\\[]|\\b(?:${statusWord.source})\\b["']?[\\s:=("'[]+)([45]\\d\\d)(?!\\w|[-/]|[.,:]\\d)|\\d+(?:[.,:]\\d+)*`,
  "gi",
);

/** The error's first line with `#` in place of numbers and ids; numbers that stand as a status of HTTP stay. */
export function likeOf(error: string | null): string {
  const line = firstLine((error ?? noError).trim());
  return varying
    .reduce((text, form) => text.replace(form, "#"), line)
    .replace(numbers, (_, status: string | undefined) => status ?? "#")
    .trim();
}

/** Is it an error of the group that is named so? A list of failures has the errors cut, as here. */
export function isLike(error: string | null, like: string): boolean {
  return likeOf(error === null ? null : error.slice(0, errorShownMax).replace(/ +$/, "")) === like;
}

/** Entries of `list_failures` with like errors together; most first, then the newest. */
export function groupFailures(failures: readonly EqualFailures[]): FailureGroupTasks[] {
  const groups = new Map<string, FailureGroupTasks>();
  const likes = new Map<string | null, string>(); // definitions that die of one thing have equal errors
  for (const failure of failures) {
    const { definition, kind, error } = failure;
    const like = likes.get(error) ?? likeOf(error);
    likes.set(error, like);
    const found = toGroup(failure, like);
    const id = JSON.stringify([definition, kind, like]);
    const earlier = groups.get(id);
    groups.set(id, earlier === undefined ? found : merge(earlier, found));
  }
  return [...groups.values()].sort(
    ({ group: a }, { group: b }) =>
      b.count - a.count || compareTexts(b.lastAt, a.lastAt) || compareTexts(a.like, b.like),
  );
}

function toGroup({ error, taskIds, ...rest }: EqualFailures, like: string): FailureGroupTasks {
  const [example] = taskIds;
  if (example === undefined) throw new Error("a failure without a task");
  return { group: { ...rest, error: error ?? noError, like, example }, taskIds };
}

/** The newer one gives error and example. */
function merge(a: FailureGroupTasks, b: FailureGroupTasks): FailureGroupTasks {
  const [newer, older] = a.group.lastAt >= b.group.lastAt ? [a, b] : [b, a];
  const { firstAt } = a.group.firstAt < b.group.firstAt ? a.group : b.group;
  const count = a.group.count + b.group.count;
  return {
    group: { ...newer.group, count, firstAt },
    taskIds: [...newer.taskIds, ...older.taskIds],
  };
}
