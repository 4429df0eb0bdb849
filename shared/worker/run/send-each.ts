import { InvalidArgumentError } from "../../core/errors";
import type { ErrorCode } from "../../core/errors";

/*
 * The store refuses a whole call because of one entry. What a handler leaves is checked before it is sent (outcome.ts); should
 * something pass that the store doesn't take, only its own task may suffer. So the entries are sent in halves, down to one: one bad
 * entry of 1,000 costs about 20 calls, and its neighbours are written by those.
 */

/** Codes that speak of a value in the call; the others speak of the execution, the store or the order of calls. */
const ofValues: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "TASKGATE_ARG_INVALID",
  "TASKGATE_ARG_TOO_LARGE",
]);

/** Did the store refuse the call because of a value in it? */
export function isRefusedValue(error: unknown): error is InvalidArgumentError {
  return error instanceof InvalidArgumentError && ofValues.has(error.code);
}

/** What became of a call that was sent in parts. */
export interface SentEach<Entry, Answer> {
  readonly answers: readonly { readonly entries: readonly Entry[]; readonly answer: Answer }[];
  readonly refused: readonly { readonly entry: Entry; readonly error: InvalidArgumentError }[];
  /** Not sent, because a part failed for a reason that is no value's: with that reason. */
  readonly unsent: readonly Entry[];
  readonly failure: unknown;
}

/** Sends entries again, of which a call was refused with `error`. `isOver`: nothing more can be written. Never throws. */
export async function sendEach<Entry, Answer>(
  entries: readonly Entry[],
  error: InvalidArgumentError,
  send: (entries: readonly Entry[]) => Promise<Answer>,
): Promise<SentEach<Entry, Answer>> {
  const answers: { entries: readonly Entry[]; answer: Answer }[] = [];
  const refused: { entry: Entry; error: InvalidArgumentError }[] = [];
  const parts = partsOf({ entries, error });
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    const [only] = part.entries;
    if (part.error !== null && part.entries.length === 1 && only !== undefined) {
      refused.push({ entry: only, error: part.error });
      continue;
    }
    try {
      answers.push({ entries: part.entries, answer: await send(part.entries) });
    } catch (failure) {
      if (!isRefusedValue(failure)) {
        const unsent = [part, ...parts].flatMap((left) => left.entries);
        return { answers, refused, unsent, failure };
      }
      parts.unshift(...partsOf({ entries: part.entries, error: failure }));
    }
  }
  return { answers, refused, unsent: [], failure: null };
}

/** A part that is still to be sent, or, of a single entry, the reason why it was refused. */
interface Part<Entry> {
  readonly entries: readonly Entry[];
  readonly error: InvalidArgumentError | null;
}

function partsOf<Entry>({ entries, error }: Part<Entry>): Part<Entry>[] {
  if (entries.length <= 1) return [{ entries, error }];
  const half = Math.ceil(entries.length / 2);
  return [entries.slice(0, half), entries.slice(half)].map((part) => ({
    entries: part,
    error: null,
  }));
}
