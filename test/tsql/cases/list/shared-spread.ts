import { acquire, register, releaseSurplus, setSharedLimit, start, work } from "../calls";
import { allOf, heldTokens, numberOf, sharedTokens, tokensOf } from "../endings";
import { later } from "../model-case";
import type { Ending, ModelCase } from "../model-case";
import { executionRow, sharedDemandRow, sharedRow } from "../permitted-waits";

/** Two definitions, a and b, with room of their own, that share one limit. */
function twoOn(limit: number) {
  const shared = [{ name: "s", limit }];
  return [register({ limit: 8, shared }), register({ name: "b", limit: 8, shared })];
}

const onB = { name: "b" };
const secondLater = later(1_001);

/** So many are held, by the definitions' strings and by the shared one. */
function held(end: Ending, count: number): string | undefined {
  return allOf(heldTokens(end, count), sharedTokens(end, count));
}

function notedOnce({ answers }: Ending): string | undefined {
  const noted = answers.filter((own) => own[0]?.rows[0]?.["Demand"] === "noted").length;
  return noted === 1 ? undefined : `${String(noted)} denials were noted`;
}

/** A denial by a shared limit is noted; holders of either definition give under the limit's row. */
export const sharedSpreadCases: readonly ModelCase[] = [
  {
    name: "shared-denial-x-denial",
    about:
      "one definition holds all of a shared limit of 2, one of each is denied: one is noted, and nobody waits",
    setup: [...twoOn(2), start(1, 2)],
    callers: [[start(2, 1)], [start(3, 1, onB)]],
    waits: [sharedDemandRow],
    ends: notedOnce,
  },
  {
    name: "shared-denial-x-work",
    about: "the holder works while one of another definition is denied: it hears of it or not",
    setup: [...twoOn(2), start(1, 2)],
    callers: [[start(2, 1, onB)], [work({ execution: 1, call: 1 })]],
    waits: [sharedDemandRow],
    readersWait: true,
    ends: (end) =>
      numberOf(end.answers[1]?.[0], "OverLimit") === 0
        ? allOf(notedOnce(end), held(end, 2))
        : "more than a wish was told",
  },
  {
    name: "shared-denial-x-give",
    about:
      "a denial was noted; the holder gives one while another one of the other definition is denied or gets it",
    readersWait: true,
    setup: [...twoOn(2), start(1, 2), start(2, 1, onB), secondLater],
    callers: [[start(3, 1, onB)], [releaseSurplus(1, 0)]],
    waits: [sharedRow, executionRow, sharedDemandRow],
    ends: (end) =>
      held(end, 2 - numberOf(end.answers[1]?.[0], "Given") + tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "shared-give-x-acquire",
    readersWait: true,
    about:
      "a holder of one was denied a second; that of three of the other definition gives one while it asks again",
    setup: [...twoOn(4), start(1, 3), start(2, 1, onB), acquire(2, 4), secondLater],
    callers: [[releaseSurplus(1, 0)], [acquire(2, 4)]],
    waits: [sharedRow, sharedDemandRow],
    ends: (end) => held(end, 2 + tokensOf(end.answers[1]?.[0])),
  },
  {
    name: "shared-give-x-give",
    readersWait: true,
    about: "one was denied: of two holders of two tokens, one per definition, one gives one",
    setup: [...twoOn(4), start(1, 2), start(2, 2, onB), start(3, 1)],
    callers: [[releaseSurplus(1, 0)], [releaseSurplus(2, 0)]],
    waits: [sharedRow],
    ends: (end) => {
      const given = end.answers.reduce((all, own) => all + numberOf(own[0], "Given"), 0);
      return given === 1 ? held(end, 3) : `${String(given)} tokens were given`;
    },
  },
  {
    name: "shared-newcomer-x-giver-that-takes-back",
    readersWait: true,
    about: "a token was given lately: a newcomer asks while the giver wants its own back",
    setup: [
      ...twoOn(4),
      start(1, 3),
      start(2, 1, onB),
      acquire(2, 4),
      secondLater,
      releaseSurplus(1, 0),
    ],
    callers: [[acquire(1, 3)], [start(3, 1, onB)]],
    waits: [sharedRow, sharedDemandRow],
    ends: (end) => held(end, 1 + tokensOf(end.answers[0]?.[0]) + tokensOf(end.answers[1]?.[0])),
  },
  {
    name: "shared-give-x-lower",
    readersWait: true,
    about:
      "the shared limit is lowered while a holder gives: for the denied one, or what is above the limit",
    setup: [...twoOn(4), start(1, 4), start(2, 1, onB)],
    callers: [[releaseSurplus(1, 0)], [setSharedLimit("s", 3, 9)]],
    waits: [sharedRow],
    ends: (end) => held(end, tokensOf(end.answers[0]?.[0])),
  },
];
