import { InvalidArgumentError } from "./errors";
import { textAt } from "./foreign-value";
import { cleanText } from "./text";

/** A problem as an error lists it in its details. */
interface PlacedProblem {
  readonly field: string;
}

/** The same error, whose message, field and problems name their places as `rename` says. Any other error as it is. */
export function withPlaces(error: unknown, rename: (text: string) => string): unknown {
  if (!(error instanceof InvalidArgumentError)) return error;
  const { code, message, details, cause } = error;
  const { field, problems } = details;
  const places = {
    ...(typeof field === "string" ? { field: rename(field) } : {}),
    ...(Array.isArray(problems)
      ? {
          problems: (problems as PlacedProblem[]).map((each) => ({
            ...each,
            field: rename(each.field),
          })),
        }
      : {}),
  };
  const options = { code, details: { ...details, ...places } };
  return new InvalidArgumentError(rename(message), { ...options, cause });
}

/**
 * What `declare` gives. Its errors say which task or queue is wrong: an app declares many. A name that is
 * wrong itself names nothing.
 */
export function declared<Declared>(
  as: "queue" | "task",
  options: unknown,
  declare: () => Declared,
): Declared {
  try {
    return declare();
  } catch (error) {
    const name = textAt(options, "name");
    if (!(error instanceof InvalidArgumentError) || name === undefined) throw error;
    const { code, message, details } = error;
    if (details["field"] === "name") throw error;
    const placed = `${message} [${as} ${cleanText(name, 200)}]`;
    throw new InvalidArgumentError(placed, { code, details, cause: error });
  }
}

/** An error about one of the tasks of a call: among several its place stands before the field. */
export function inTask(error: unknown, { index, of }: { index: number; of: number }): unknown {
  if (of === 1) return error;
  const place = `tasks[${String(index)}].`;
  // A sentence names its field itself.
  return withPlaces(error, (text) => {
    const placed = text.replace(/^Expected `/, `Expected \`${place}`);
    return placed === text ? place + text : placed;
  });
}

/** An error about tasks of a part of a call, as the error of the whole: `placeOf` turns a place in the part into one in the whole. */
export function inWhole(error: unknown, placeOf: (index: number) => number | undefined): unknown {
  return withPlaces(error, (text) =>
    text.replace(/^tasks\[(\d+)\]/, (given, index: string) => {
      const place = placeOf(Number(index));
      return place === undefined ? given : `tasks[${String(place)}]`;
    }),
  );
}
