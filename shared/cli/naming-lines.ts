import { withPlaces } from "../core/error-places";

/** Members of a task that an error may begin with where a call has one task only. */
const membersForm = /^(payload|kind|group|dedupeKey|priority)\b/;

/** An error that names tasks by their place in a call, as one that names the lines of the file; any other one as it is. */
export function namingLines(
  error: unknown,
  tasks: readonly { readonly number: number }[],
): unknown {
  const lineOf = (index: string | number): string => `line ${String(tasks[Number(index)]?.number)}`;
  return withPlaces(error, (text) =>
    tasks.length === 1 && membersForm.test(text)
      ? `${lineOf(0)}.${text}`
      : text.replaceAll(/\btasks\[(\d+)\]/g, (_, index: string) => lineOf(index)),
  );
}
