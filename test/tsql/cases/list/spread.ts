import { acquire, register, releaseSurplus, setLimit, start, work } from "../calls";
import { heldTokens, numberOf, tokensOf } from "../endings";
import { later } from "../model-case";
import type { CaseAnswer, Ending, ModelCase } from "../model-case";
import { definitionRow, demandRow, executionRow } from "../permitted-waits";

/** Each start of these cases is a process of its own. */
function isNoted(answer: CaseAnswer | undefined): boolean {
  return answer?.rows[0]?.["Demand"] === "noted";
}

function notedOnce({ answers }: Ending): string | undefined {
  const noted = answers.filter((own) => isNoted(own[0])).length;
  return noted === 1 ? undefined : `${String(noted)} denials were noted`;
}

/** The tokens that all gave, and those held then. */
function gave(end: Ending, given: number, held: number): string | undefined {
  const sum = end.answers.reduce((all, own) => all + numberOf(own[0], "Given"), 0);
  return sum === given ? heldTokens(end, held) : `${String(sum)} tokens were given`;
}

const waits = [definitionRow];
const secondLater = later(1_001);

/** A denial is noted; holders are told and give under the definition's row. */
export const spreadCases: readonly ModelCase[] = [
  {
    name: "denial-x-denial",
    about: "limit 2, one holds both, two are denied: one is noted, and nobody waits",
    setup: [register({ limit: 2 }), start(1, 2)],
    callers: [[start(2, 1)], [start(3, 1)]],
    waits: [demandRow],
    ends: notedOnce,
  },
  {
    name: "denial-x-work",
    about: "the holder works while somebody is denied: it hears of it or not, and nobody waits",
    setup: [register({ limit: 2 }), start(1, 2)],
    callers: [[start(2, 1)], [work({ execution: 1, call: 1 })]],
    waits: [demandRow],
    readersWait: true,
    ends: (end) =>
      numberOf(end.answers[1]?.[0], "OverLimit") === 0 && isNoted(end.answers[0]?.[0])
        ? heldTokens(end, 2)
        : "the denial wasn't noted",
  },
  {
    name: "denial-x-give",
    about:
      "a denial was noted; the holder gives one, or steps over the row that another denial is writing, while that one is denied or gets it",
    readersWait: true,
    setup: [register({ limit: 2 }), start(1, 2), start(2, 1), secondLater],
    callers: [[start(3, 1)], [releaseSurplus(1, 0)]],
    waits: [definitionRow, executionRow, demandRow],
    ends: (end) =>
      heldTokens(end, 2 - numberOf(end.answers[1]?.[0], "Given") + tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "newcomer-x-giver-that-takes-back",
    about:
      "a token was given lately: a newcomer asks while the giver wants its own back: no token is lost",
    setup: [
      register({ limit: 4 }),
      start(1, 3),
      start(2, 1),
      acquire(2, 4),
      secondLater,
      releaseSurplus(1, 0),
    ],
    callers: [[acquire(1, 3)], [start(3, 1)]],
    waits: [definitionRow, demandRow],
    readersWait: true,
    ends: (end) =>
      heldTokens(end, 1 + tokensOf(end.answers[0]?.[0]) + tokensOf(end.answers[1]?.[0])),
  },
  {
    name: "give-x-give",
    about: "one was denied: of two holders of two tokens one gives one, whoever comes first",
    setup: [register({ limit: 4 }), start(1, 2), start(2, 2), start(3, 1)],
    callers: [[releaseSurplus(1, 0)], [releaseSurplus(2, 0)]],
    waits,
    ends: (end) => gave(end, 1, 3),
  },
  {
    name: "give-x-acquire",
    about: "a holder of one was denied a second; the one of three gives one while it asks again",
    setup: [register({ limit: 4 }), start(1, 3), start(2, 1), acquire(2, 4), secondLater],
    callers: [[releaseSurplus(1, 0)], [acquire(2, 4)]],
    waits: [definitionRow, demandRow],
    readersWait: true,
    ends: (end) => heldTokens(end, 2 + tokensOf(end.answers[1]?.[0])),
  },
  {
    name: "give-x-work",
    about: "the holder's own work meets its gift: one token is given, and its claims are its own",
    setup: [register({ limit: 2 }), start(1, 2), start(2, 1)],
    callers: [[releaseSurplus(1, 0)], [work({ execution: 1, call: 1 })]],
    waits: [definitionRow, executionRow],
    ends: (end) => gave(end, 1, 1),
  },
  {
    name: "give-x-lower",
    about:
      "the limit is lowered while the holder gives: it gives for the denied one, or what is above the limit",
    setup: [register({ limit: 4 }), start(1, 4), start(2, 1)],
    callers: [[releaseSurplus(1, 0)], [setLimit(3, 1)]],
    waits,
    ends: (end) => heldTokens(end, tokensOf(end.answers[0]?.[0])),
  },
];
