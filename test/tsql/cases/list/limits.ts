import {
  acquire,
  enqueue,
  finish,
  heartbeat,
  plainTasks,
  register,
  release,
  releaseSurplus,
  setRate,
  listSharedLimits,
  setSharedLimit,
  start,
  sweep,
  work,
} from "../calls";
import {
  allOf,
  claimedBy,
  claimedTasks,
  heldTokens,
  isAny,
  numberOf,
  oneOf,
  sharedTokens,
  statusOf,
  tokensOf,
} from "../endings";
import { leaseOver } from "../model-case";
import type { ModelCase } from "../model-case";
import { definitionRow, executionRow, latch, rateRow, sharedRow } from "../permitted-waits";

/** Two definitions, a and b, with room of their own, that share one limit. */
function twoOn(limit: number) {
  const shared = [{ name: "s", limit }];
  return [register({ shared }), register({ name: "b", shared })];
}

const onB = { name: "b" };
/** One task per minute and never two at once. */
const slow = { count: 60, periodMs: 3_600_000, burst: 1 };

/** Definition a with three tasks, and two workers of it with a token each. */
function twoClaimers(burst: number) {
  return [
    register({ rate: { ...slow, burst } }),
    enqueue(plainTasks(3)),
    start(1, 1, { needsReady: true }),
    start(2, 1, { needsReady: true }),
  ];
}

/** Calls that start as many tasks as a rate allows, and calls that wait for it. */
const rateCases: readonly ModelCase[] = [
  {
    name: "claim-x-claim-on-a-rate",
    about:
      "one start is left, two claim: one gets a task, the other steps over the row or is told when",
    setup: twoClaimers(1),
    callers: [
      [work({ execution: 1, call: 1, want: 1 })],
      [work({ execution: 2, call: 1, want: 1 })],
    ],
    readersWait: true,
    ends: (end) =>
      allOf(
        oneOf(end, "claimed", "limited"),
        claimedTasks(end).length === 1 ? undefined : "not one task is claimed",
      ),
  },
  {
    name: "claim-x-claim-on-a-wider-rate",
    about:
      "two starts are left, two claim: no more than that, and who stepped over the row asks again",
    setup: twoClaimers(2),
    callers: [
      [work({ execution: 1, call: 1, want: 1 }), work({ execution: 1, call: 2, want: 1 })],
      [work({ execution: 2, call: 1, want: 1 })],
    ],
    readersWait: true,
    ends: (end) =>
      claimedTasks(end).length <= 2 ? undefined : "more tasks started than the rate lets",
  },
  {
    name: "claim-x-set-rate",
    about: "the rate is taken away while somebody claims: by the old one or by none, never lost",
    setup: twoClaimers(1),
    callers: [[work({ execution: 1, call: 1, want: 1 })], [setRate(-1)]],
    waits: [rateRow],
    readersWait: true,
    ends: (end) => isAny(end.answers[0]?.[0], "claimed", "limited"),
  },
  {
    name: "claim-x-first-rate",
    about: "a rate is set while somebody claims: it acts at this claim or at the next",
    setup: [register(), enqueue(plainTasks(2)), start(1, 2, { needsReady: true })],
    callers: [[work({ execution: 1, call: 1, want: 2 })], [setRate(1)]],
    waits: [rateRow],
    readersWait: true,
    ends: (end) => {
      const claimed = claimedBy(end.answers[0]?.[0]).length;
      return claimed === 1 || claimed === 2 ? undefined : `${String(claimed)} are claimed`;
    },
  },
  {
    name: "start-x-start-on-a-rate",
    about: "two grants that are starts themselves, one start is left: the other's tokens go back",
    setup: [register({ rate: slow })],
    callers: [[start(1, 1)], [start(2, 1)]],
    waits: [definitionRow],
    ends: (end) => allOf(oneOf(end, "started", "limited"), heldTokens(end, 1)),
  },
  {
    name: "start-x-rate-taken-away",
    about: "the only rate is an operator's and is taken away while a grant is to count: it starts",
    setup: [register(), setRate(1), register({ name: "b", rate: slow })],
    callers: [[start(1, 1)], [setRate(null)]],
    waits: [definitionRow, rateRow],
    readersWait: true,
    ends: (end) => allOf(isAny(end.answers[0]?.[0], "started"), heldTokens(end, 1)),
  },
  {
    name: "start-x-claim-on-a-rate",
    about: "a grant that is a start itself meets a claim: one of them has the start",
    setup: twoClaimers(1),
    callers: [[start(3, 1)], [work({ execution: 1, call: 1, want: 1 })]],
    waits: [definitionRow, executionRow],
    // Of the rate as well: a call that steps over its row reads it as of the last commit.
    readersWait: true,
    ends: (end) => {
      const starts = end.answers.flat().filter((answer) => statusOf(answer) !== "limited").length;
      return starts === 1 ? undefined : `${String(starts)} have started`;
    },
  },
];

/** Those who meet on the row of a limit that two definitions share. */
const sharedCases: readonly ModelCase[] = [
  {
    name: "start-x-start-on-a-shared-limit",
    about: "shared limit 1, two definitions start: one gets the token, the other takes nothing",
    setup: twoOn(1),
    callers: [[start(1, 1)], [start(2, 1, onB)]],
    waits: [sharedRow],
    ends: (end) =>
      allOf(oneOf(end, "started", "limited"), heldTokens(end, 1), sharedTokens(end, 1)),
  },
  {
    name: "acquire-x-release-over-a-shared-limit",
    about: "one definition gives back what another one asks for: no token is lost in any row",
    setup: [...twoOn(2), start(1, 1), start(2, 1, onB)],
    callers: [[acquire(1, 2)], [release(2, 0)]],
    waits: [sharedRow],
    readersWait: true,
    ends: (end) => {
      const own = tokensOf(end.answers[0]?.[0]);
      return allOf(heldTokens(end, own), sharedTokens(end, own));
    },
  },
  {
    name: "start-x-finish-over-a-shared-limit",
    about: "a start meets the end of an execution of another definition",
    setup: [...twoOn(1), start(1, 1)],
    callers: [[start(2, 1, onB)], [finish(1)]],
    waits: [sharedRow, executionRow],
    readersWait: true,
    ends: (end) => {
      const held = statusOf(end.answers[0]?.[0]) === "started" ? 1 : 0;
      return allOf(heldTokens(end, held), sharedTokens(end, held));
    },
  },
  {
    name: "start-x-lower-a-shared-limit",
    about: "the shared limit is lowered while somebody asks: no grant once it is",
    setup: [...twoOn(2), start(1, 1)],
    callers: [[start(2, 1, onB)], [setSharedLimit("s", 1, 9)]],
    waits: [sharedRow],
    ends: (end) => {
      const held = statusOf(end.answers[0]?.[0]) === "started" ? 2 : 1;
      return allOf(heldTokens(end, held), sharedTokens(end, held));
    },
  },
  {
    name: "acquire-x-first-shared-limit",
    about: "a shared limit takes the place of none while somebody asks: who runs is counted",
    setup: [...twoOn(-1), start(1, 1), start(2, 1, onB)],
    callers: [[acquire(1, 2)], [setSharedLimit("s", 2, 9)]],
    waits: [sharedRow, executionRow],
    readersWait: true,
    ends: (end) => sharedTokens(end, 1 + tokensOf(end.answers[0]?.[0])),
  },
  {
    name: "start-x-start-after-a-dead-holder-of-a-shared-limit",
    about: "a dead holder's token goes to one of two askers of other executions, once",
    setup: [...twoOn(1), start(1, 1), leaseOver],
    callers: [[start(2, 1)], [start(3, 1, onB)]],
    waits: [sharedRow],
    readersWait: true,
    ends: (end) => allOf(oneOf(end, "started", "limited"), sharedTokens(end, 1)),
  },
  {
    name: "start-x-late-heartbeat-over-a-shared-limit",
    about: "an asker of another definition finds a lease that is over, while its holder renews it",
    setup: [...twoOn(1), start(1, 1), leaseOver],
    callers: [[start(2, 1, onB)], [heartbeat(1)]],
    waits: [sharedRow],
    readersWait: true,
    ends: (end) => {
      const isStarted = statusOf(end.answers[0]?.[0]) === "started";
      const isRenewed = String(end.answers[1]?.[0]?.rows[0]?.["Executions"]).includes("renewed");
      if (isStarted && isRenewed)
        return "the token was taken from somebody whose lease was renewed";
      return sharedTokens(end, 1);
    },
  },
  {
    name: "dead-holder-asks-x-asker-over-a-shared-limit",
    about: "somebody whose lease is over asks for more while another definition wants its token",
    setup: [...twoOn(1), start(1, 1), leaseOver],
    callers: [[acquire(1, 2)], [start(2, 1, onB)]],
    waits: [sharedRow, executionRow],
    readersWait: true,
    ends: (end) => sharedTokens(end, 1),
  },
  {
    name: "surplus-x-surplus-over-a-shared-limit",
    about: "the limit was lowered by one: of two holders one gives a token back, not both",
    setup: [...twoOn(4), start(1, 2), start(2, 2, onB), setSharedLimit("s", 3, 9)],
    callers: [[releaseSurplus(1, 0)], [releaseSurplus(2, 0)]],
    waits: [sharedRow],
    ends: (end) => allOf(heldTokens(end, 3), sharedTokens(end, 3)),
  },
  {
    name: "start-x-register-of-a-shared-limit",
    about:
      "a definition begins to share a limit while it starts: the grant is counted, or comes after",
    setup: [
      register(),
      register({ name: "b", shared: [{ name: "s", limit: 1 }] }),
      start(1, 1, onB),
    ],
    callers: [[start(2, 1)], [register({ build: 2, shared: [{ name: "s" }] })]],
    waits: [sharedRow, definitionRow, executionRow],
    readersWait: true,
    ends: (end) => {
      const held = statusOf(end.answers[0]?.[0]) === "started" ? 2 : 1;
      return allOf(heldTokens(end, held), sharedTokens(end, held));
    },
  },
  {
    name: "finish-x-register-without-a-shared-limit",
    about:
      "a definition leaves a shared limit while an execution of it ends: nothing of it stays there",
    setup: [...twoOn(2), start(1, 1)],
    callers: [[finish(1)], [register({ build: 2 })]],
    waits: [sharedRow, definitionRow, executionRow],
    readersWait: true,
    ends: (end) => sharedTokens(end, 0),
  },
  {
    name: "register-x-register-over-shared-limits",
    about: "two definitions name two limits in opposite order: no circle of waiters",
    setup: [],
    callers: [
      [register({ shared: [{ name: "s" }, { name: "t" }] })],
      [register({ name: "b", shared: [{ name: "t" }, { name: "s" }] })],
    ],
    waits: [sharedRow, definitionRow],
    readersWait: true,
    ends: (end) =>
      end.rows("SharedLimit").length === 2 && end.rows("TaskDefinitionSharedLimit").length === 4
        ? undefined
        : "expected two limits and four uses",
  },
  {
    name: "set-shared-limit-x-register-of-its-limit",
    about: "an operator's limit and another one by the code: both are kept",
    setup: [register({ shared: [{ name: "s", limit: 2 }] })],
    callers: [
      [setSharedLimit("s", 3, 9)],
      [register({ build: 2, shared: [{ name: "s", limit: 7 }] })],
    ],
    waits: [sharedRow],
    readersWait: true,
    ends: (end) => {
      const [row] = end.rows("SharedLimit");
      const limits = [row?.["ConcurrencyLimit"], row?.["ConcurrencyLimitOverride"]].join();
      return limits === "7,3" ? undefined : `the limits are ${limits}, expected 7,3`;
    },
  },
  {
    name: "set-shared-limit-x-same-set-shared-limit",
    about: "an operator's new limit and its repeat: one change, one answer",
    setup: [],
    callers: [[setSharedLimit("s", 3, 9)], [setSharedLimit("s", 3, 9)]],
    waits: [latch, sharedRow],
    readersWait: true,
    ends: (end) =>
      allOf(
        end.rows("SettingAudit").length === 1 ? undefined : "changed twice",
        statusOf(end.answers[0]?.[0]) === statusOf(end.answers[1]?.[0]) &&
          numberOf(end.answers[1]?.[0], "NewLimit") === 3
          ? undefined
          : "the answers differ",
      ),
  },
  {
    name: "start-x-sweep-over-a-shared-limit",
    about: "the safety net reads while tokens of a shared limit change hands",
    setup: [...twoOn(2), enqueue(plainTasks(1)), start(1, 1, onB)],
    callers: [[start(2, 1)], [sweep]],
    readersWait: true,
  },
  {
    name: "list-of-shared-limits-x-finish",
    about: "shared limits are listed while an execution ends: the tokens of one moment",
    setup: [...twoOn(2), start(1, 1, onB)],
    callers: [[finish(1)], [listSharedLimits]],
    readersWait: true,
    victims: [1],
    ends: (end) => {
      const listed = String(end.answers[1]?.[0]?.rows[0]?.["SharedLimits"]);
      const held = [0, 1].map(
        (count) =>
          `"held":${String(count)},"definitions":[{"name":"a","held":0},{"name":"b","held":${String(count)}}]`,
      );
      return end.engine === "locking" || held.some((text) => listed.includes(text))
        ? undefined
        : `the list has tokens of two moments: ${listed}`;
    },
  },
  {
    name: "list-of-shared-limits-x-first-shared-limit",
    about: "shared limits are listed while one takes the place of none",
    setup: [...twoOn(-1), start(1, 1)],
    callers: [[setSharedLimit("s", 2, 9)], [listSharedLimits]],
    readersWait: true,
    victims: [1],
  },
];

/** Rates and shared limits. */
export const limitCases: readonly ModelCase[] = [...rateCases, ...sharedCases];
