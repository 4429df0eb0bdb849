import { problemsOf } from "../admin/read-result";
import { InvalidArgumentError } from "../core/errors";

/** Members of a task that an error may begin with where a call has one task only. */
const membersForm = /^(payload|kind|group|dedupeKey|priority)\b/;

/** An error that names tasks by their place in a call, as one that names the lines of the file; any other one as it is. */
export function namingLines(
  error: unknown,
  tasks: readonly { readonly number: number }[],
): unknown {
  if (!(error instanceof InvalidArgumentError)) return error;
  const lineOf = (index: string | number): string => `line ${String(tasks[Number(index)]?.number)}`;
  const rename = (text: string): string =>
    tasks.length === 1 && membersForm.test(text)
      ? `${lineOf(0)}.${text}`
      : text.replaceAll(/\btasks\[(\d+)\]/g, (_, index: string) => lineOf(index));
  const problems = problemsOf(error).map(({ field, ...rest }) => ({
    field: rename(field),
    ...rest,
  }));
  const { field } = error.details;
  const details = {
    ...error.details,
    ...(typeof field === "string" ? { field: rename(field) } : {}),
    ...(problems.length === 0 ? {} : { problems }),
  };
  return new InvalidArgumentError(rename(error.message), {
    code: error.code,
    details,
    cause: error,
  });
}
