/**
 * Finds the known name nearest to an unknown one: for settings, request fields, commands and definitions.
 */

/** Longest name that is compared: the cost grows with the square. */
const comparedLengthMax = 200;
/** More differences are no slip of the hand; and the cost grows with them. */
const differencesMax = 10;

/**
 * The candidate nearest to `name` (letters added, dropped, changed or swapped, upper or lower case), or null when none
 * is near: at most one difference per three characters, and ten. Of equally near ones the first.
 */
export function nearName(name: string, candidates: readonly string[]): string | null {
  return nearNames(name, candidates, 1)[0] ?? null;
}

/** Up to `max` candidates that are near `name`, nearest first. */
export function nearNames(name: string, candidates: readonly string[], max: number): string[] {
  if (name.length > comparedLengthMax) return [];
  const wanted = name.toLowerCase();
  const farthest = Math.min(differencesMax, Math.max(1, Math.floor(wanted.length / 3)));
  return candidates
    .filter((candidate) => Math.abs(candidate.length - name.length) <= farthest)
    .map((candidate) => ({
      candidate,
      distance: distance(wanted, candidate.toLowerCase(), farthest),
    }))
    .filter((entry) => entry.distance <= farthest)
    .sort((left, right) => left.distance - right.distance)
    .slice(0, max)
    .map((entry) => entry.candidate);
}

/** " Did you mean `x`?", or an empty text. */
export function didYouMean(name: string, candidates: readonly string[]): string {
  const near = nearName(name, candidates);
  return near === null ? "" : ` Did you mean \`${near}\`?`;
}

/** Known names that an error lists where none is near; the others are counted. */
const namesListedMax = 10;

/** What an error says of known names, of which there is one at least: "did you mean `x`, `y`?", or "there are `a`, `b` and 3 more". */
export function describeKnown(name: string, known: readonly string[]): string {
  const near = nearNames(name, known, 3);
  if (near.length > 0) return `did you mean ${quoteAll(near)}?`;
  const more = known.length - namesListedMax;
  return `there are ${quoteAll(known.slice(0, namesListedMax))}${more > 0 ? ` and ${String(more)} more` : ""}`;
}

function quoteAll(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** Edits between two texts, a swap of neighbours counted as one. Gives up, with infinity, where there are more than `max`. */
function distance(left: string, right: string, max: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= right.length; column += 1) {
      const isSame = left[row - 1] === right[column - 1];
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (row > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]) {
        cost = Math.min(cost, (beforeLast[column - 2] ?? cost) + 1);
      }
      current.push(cost);
      least = Math.min(least, cost);
    }
    // A swap reaches back over one row and adds one: no later row can be less than this one by then.
    if (least > max + 1) return Infinity;
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}
