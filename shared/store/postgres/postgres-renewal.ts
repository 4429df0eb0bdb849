/**
 * What PostgreSQL says where `taskgate migrate` has renewed the functions under a live connection. The call was undone; made
 * again, on another connection, it finds the new ones. A server speaks the language of its `lc_messages`: what is looked at
 * are codes, names of the server's own routines, and words that no translation changes.
 */
interface Said {
  readonly code: string;
  /** Errors that only a mistake should raise are in English everywhere. */
  readonly message: string;
  readonly where: string;
  /** The function of the server's source that raised it. */
  readonly routine: string;
}

/** A function was dropped while a call was about to run it. */
const isGone = ({ code, message }: Said): boolean =>
  code === "XX000" && message.startsWith("cache lookup failed for function");

/** A body that was begun before calls a function by parameters that it has no more. A call from outside has no context. */
const isOutdatedBody = ({ code, where }: Said): boolean =>
  code === "42883" && where.includes("PL/pgSQL");

/** A prepared statement gives other columns now: it stays unusable as long as its connection lives. */
const isOutdatedPlan = ({ code, routine }: Said): boolean =>
  code === "0A000" && routine === "RevalidateCachedQuery";

/** Has a renewal of the functions come between? */
export function isRenewal(said: Said): boolean {
  return isGone(said) || isOutdatedBody(said) || isOutdatedPlan(said);
}
