// Signs of trouble of a definition, in the order in which people want to know them.

import { formatCount, formatDuration } from "./format.js";

/** Ready tasks that are older are told. */
const oldMs = 60_000;

const ranks = ["trouble", "full", "busy", "idle"];

/** In trouble first, then those whose limit keeps tasks waiting, then busy ones; among equals the longer queue. */
export function sortByTrouble(definitions) {
  const rows = definitions.map((definition) => ({ definition, rank: rankOf(definition) }));
  // By powers of two: rows don't change places with each task that comes.
  const size = ({ definition }) =>
    Math.floor(
      Math.log2(1 + definition.ready + definition.waiting + definition.held + 2 * definition.dead),
    );
  return rows.toSorted(
    (left, right) =>
      ranks.indexOf(left.rank) - ranks.indexOf(right.rank) ||
      size(right) - size(left) ||
      left.definition.name.localeCompare(right.definition.name),
  );
}

function rankOf(definition) {
  const { dead, paused, ready, scheduled, waiting, claimed, held } = definition;
  const isQueued = ready + waiting > 0;
  if (dead > 0 || (paused && isQueued) || (isZero(definition) && isQueued)) return "trouble";
  if (isFull(definition) && isQueued) return "full";
  return ready + scheduled + waiting + claimed + held > 0 || paused ? "busy" : "idle";
}

const isZero = ({ limit }) => limit === 0;
const isFull = ({ limit, held, sharedLimits }) =>
  (limit !== null && held >= limit) ||
  sharedLimits.some((shared) => shared.limit !== null && shared.held >= shared.limit);

/** `[text, mood]` of each; `oldestMs` is the age of the oldest ready task, where it is known. */
export function describeTrouble(definition, oldestMs) {
  const { dead, paused, ready, waiting, rateInMs, held, limit } = definition;
  const found = [];
  if (dead > 0) found.push([`${formatCount(dead)} dead`, "bad"]);
  if (paused) found.push(["paused", "warn"]);
  if (isZero(definition)) found.push(["limit 0", "warn"]);
  else if (limit !== null && held > limit) found.push([`${held - limit} over the limit`, "warn"]);
  else if (isFull(definition) && ready + waiting > 0)
    found.push([describeFull(definition), "busy"]);
  if (ready > 0 && rateInMs !== null && rateInMs > 1_000)
    found.push([`rate: next in ${formatDuration(rateInMs)}`, "busy"]);
  if (oldestMs !== undefined && oldestMs > oldMs)
    found.push([`oldest waits ${formatDuration(oldestMs)}`, "busy"]);
  return found;
}

function describeFull({ limit, held, sharedLimits }) {
  if (limit !== null && held >= limit) return "full";
  const full = sharedLimits.find((shared) => shared.limit !== null && shared.held >= shared.limit);
  return `${full.name} is full`;
}

/** Since when a listed task runs, in ms; undefined: the list doesn't say. */
export function readSince({ claimedAt }) {
  return claimedAt == null ? undefined : Math.max(0, Date.now() - new Date(claimedAt).getTime());
}
