import { describe, expect, test } from "@jest/globals";
import { explainTask } from "../../../shared/admin/explain";
import type { ExplainableTask, Reason } from "../../../shared/admin/explain";

const base = {
  task: "17",
  definition: "resize-image",
  kind: "resize-image",
  state: "ready",
  failedCount: 0,
  lostCount: 0,
  error: null,
  dedupeKey: null,
  attempts: [],
  retryAttempts: 5,
  lostMax: 3,
  limit: 4,
  limitSource: "code",
  held: 0,
  paused: false,
  holders: [],
} as unknown as ExplainableTask;
const holder = { execution: "3", worker: "web-1:7", tokens: 4, leaseLeftMs: 25_000 };
const group = {
  key: "customer 7",
  slots: 1,
  used: 1,
  paused: false,
  strict: false,
  isGlobal: false,
  ahead: 0,
  holders: ["16"],
};
const claim = {
  execution: "3",
  worker: "web-1:7",
  fence: "41",
  claimedAt: "2026-01-31T08:30:00.000Z",
  leaseLeftMs: 25_000,
  standing: "running" as const,
};

function explain(facts: object): Reason[] {
  return explainTask({ ...base, ...facts });
}

function deciding(facts: object): string[] {
  return explain(facts)
    .filter((reason) => reason.decides)
    .map((reason) => reason.sentence);
}

describe("the sentence that decides", () => {
  test("the sentence of a scheduled task tells when it is due", () => {
    expect(deciding({ state: "scheduled", dueInMs: 3_000 })).toEqual(["It is not due for 3 s."]);
    expect(deciding({ state: "scheduled", dueInMs: -2_000 })).toEqual([
      "It has been due for 2 s: the next worker of `resize-image` or the next sweep makes it ready.",
    ]);
  });

  test("the sentence of a waiting task tells the holders of its group", () => {
    expect(deciding({ state: "waiting", group })).toEqual([
      "Group `customer 7` is full: 1 of 1 slot in use, held by task 16.",
    ]);
    expect(
      deciding({ state: "waiting", group: { ...group, paused: true, used: 0, isGlobal: true } }),
    ).toEqual(["Global group `customer 7` is paused: none of its tasks starts."]);
    expect(deciding({ state: "waiting", group: { ...group, used: 0, ahead: 2 } })).toEqual([
      "2 tasks wait ahead of it in the group.",
    ]);
    expect(deciding({ state: "waiting", group: { ...group, used: 0 } })).toEqual([
      "Group `customer 7` has a free slot: the next worker or sweep makes the task ready.",
    ]);
  });

  test("the sentence of a ready task tells the limit, with the holders of the tokens and their times", () => {
    const holders = [{ ...holder, startedAt: "2026-01-31T08:30:00Z" }];
    expect(deciding({ held: 4, holders })).toEqual([
      "The limit of `resize-image` is reached: 4 tokens, set by the code, held by web-1:7 (execution 3, 4 tokens, since 2026-01-31T08:30:00Z, lease left 25 s).",
    ]);
    expect(deciding({ held: 5, limit: 2, limitSource: "operator", holders: [] })).toEqual([
      "The limit of `resize-image` is reached: 2 tokens, set by an operator (5 are held: the limit was lowered), held by workers that are just ending.",
    ]);
    expect(deciding({ limit: 0, limitSource: "operator" })).toEqual([
      "The limit of `resize-image` is 0, set by an operator: nothing starts.",
    ]);
  });

  test("the sentence of a ready task names at most five holders, and which of them are dead", () => {
    const holders = Array.from({ length: 7 }, (_, index) => ({
      ...holder,
      tokens: 1,
      execution: String(index),
      leaseLeftMs: index === 0 ? -2_000 : 1_000,
    }));
    const [sentence] = deciding({ held: 7, limit: 7, holders });
    expect(sentence).toContain(
      "(execution 0, dead: lease over for 2 s, the next worker takes its tokens)",
    );
    expect(sentence).toContain("; and 2 more.");
  });

  test("the sentence of a ready task tells a pause before anything else, and all that holds it back is said", () => {
    expect(
      explain({ paused: true, held: 4, holders: [holder], readyAhead: 12 }).map(
        (reason) => reason.code,
      ),
    ).toEqual(["state", "paused", "limit-reached", "queue-position"]);
  });

  test("the sentence of a ready task that no worker has taken for long asks for the app that has it", () => {
    const way =
      "Does an app run that has `resize-image`? Where the task, its function or the app was renamed, give it the old name back until its tasks are done.";
    expect(deciding({ unserved: `Of it 2 tasks are ready. ${way}`, readyAhead: 0 })).toEqual([
      `Of it 2 tasks are ready. ${way}`,
    ]);
    expect(deciding({ state: "scheduled", dueInMs: -18 * 60_000 })).toEqual([
      `It has been due for 18 min, and no worker has made it ready. ${way}`,
    ]);
  });

  test("the sentence of a ready task that nothing holds back tells its place", () => {
    expect(deciding({ readyAhead: 12, held: 1 })).toEqual([
      "12 tasks are ahead of it in `resize-image`.",
    ]);
    expect(deciding({ readyAhead: 12, held: 0 })).toEqual([
      "12 tasks are ahead of it in `resize-image`, and no worker holds a token of it at this moment.",
    ]);
    expect(deciding({ readyAhead: 12, limit: null, held: 0 })).toEqual([
      "12 tasks are ahead of it in `resize-image`.",
    ]);
    expect(deciding({ readyAhead: 1_000, held: 1 })).toEqual([
      "1000 or more tasks are ahead of it in `resize-image`.",
    ]);
    expect(deciding({ limit: null, held: 50 })[0]).toMatch(
      /^It is the next of `resize-image`: a worker takes it/,
    );
  });

  test("the sentence of a claimed task tells its worker, its fence and the time since the claim", () => {
    expect(deciding({ state: "claimed", claim })).toEqual([
      "Claimed by web-1:7 (execution 3) since 2026-01-31T08:30:00.000Z, fence 41, lease left 25 s: it is running.",
    ]);
    expect(deciding({ state: "claimed", claim: { ...claim, standing: "prefetched" } })[0]).toMatch(
      /^Prefetched by web-1:7/,
    );
    expect(
      deciding({
        state: "claimed",
        claim: { ...claim, leaseLeftMs: -1_000, standing: "lost" },
      })[0],
    ).toMatch(/whose lease is over for 1 s: the next worker or sweep takes the task back\.$/);
  });

  test("the sentence of a blocked task tells its wave", () => {
    expect(deciding({ state: "blocked" })[0]).toMatch(/^Its wave isn't open/);
  });

  const wave = { batch: "3", name: "nightly", ordinal: 2 };
  test.each([
    ["running", "blocked", "Wave 2 of batch 3 (`nightly`) isn't open: it opens when the last task"],
    ["running", "opening", "Wave 2 of batch 3 (`nightly`) is being opened: a worker or the next"],
    [
      "draft",
      "blocked",
      "Its wave 2 isn't open: batch 3 (`nightly`) is a draft. The code that made",
    ],
    ["halted", "blocked", "Its wave 2 isn't open: batch 3 (`nightly`) is halted at a dead task."],
    [
      "cancelled",
      "opening",
      "It is of batch 3 (`nightly`), which is cancelled: the task ends as cancelled",
    ],
  ] as const)(
    "the sentence of a blocked task in a %s batch, wave %s, names both",
    (batchState, state, start) => {
      const [sentence] = deciding({ state: "blocked", wave: { ...wave, batchState, state } });
      expect(sentence?.slice(0, start.length)).toBe(start);
    },
  );

  test("the sentence of a blocked task names the command that helps", () => {
    const ofBatch = (batchState: "draft" | "halted") =>
      deciding({ state: "blocked", wave: { ...wave, batchState, state: "blocked" } })[0];
    expect(ofBatch("halted")).toContain("`taskgate batch 3 --resume` opens the next wave");
    expect(ofBatch("draft")).toContain("`taskgate batch 3 --cancel` gives it up");
  });
});

describe("the sentence about the end", () => {
  const endedAt = "2026-01-31T08:31:00Z";

  test("the sentence about the end tells which worker did the task and how long it took", () => {
    expect(deciding({ state: "done", endedAt, worker: "web-1:7", durationMs: 1_234 })).toEqual([
      "Done at 2026-01-31T08:31:00Z by web-1:7 in 1 s.",
    ]);
    expect(deciding({ state: "cancelled", endedAt })).toEqual([
      "Cancelled at 2026-01-31T08:31:00Z.",
    ]);
  });

  test("the sentence about the end tells why the task was cancelled, where that was said", () => {
    const cancelled = { state: "cancelled", endedAt, error: "ordered twice" } as const;
    expect(deciding(cancelled)).toEqual([
      "Cancelled at 2026-01-31T08:31:00Z. Reason: ordered twice.",
    ]);
    const attempts = [{ outcome: "failed", error: "ordered twice" }];
    expect(deciding({ ...cancelled, attempts })).toEqual(["Cancelled at 2026-01-31T08:31:00Z."]);
    const by = { actor: "cli:eva", reason: "ordered twice" };
    expect(deciding({ ...cancelled, error: "cancelled on request", cancelledBy: by })).toEqual([
      "Cancelled at 2026-01-31T08:31:00Z. `cli:eva` asked for it. Reason: ordered twice.",
    ]);
    expect(deciding({ ...cancelled, cancelledBy: { ...by, reason: null } })).toEqual([
      "Cancelled at 2026-01-31T08:31:00Z. `cli:eva` asked for it.",
    ]);
  });

  test.each([
    [{ failedCount: 5 }, "its attempts are used up: 5 of 5 failed."],
    [{ failedCount: 1 }, "its handler gave up at attempt 1 of 5."],
    [{ failedCount: 0 }, "no handler could begin it."],
    [
      { lostCount: 4, attempts: [{ outcome: "lost" }] },
      "its worker died under it 4 times, 3 are allowed.",
    ],
  ])("the sentence about the end tells why the task is dead: %j", (facts, why) => {
    const state = "dead";
    expect(deciding({ ...facts, state, endedAt })).toEqual([
      `Dead since 2026-01-31T08:31:00Z because ${why}`,
    ]);
  });

  test("the sentence about the end names the last error by its first line", () => {
    const facts = {
      state: "dead",
      failedCount: 5,
      error: "no such image\n  at resize",
    } as const;
    expect(deciding(facts)[0]).toMatch(/ Last error: no such image\.$/);
  });
});

test("history, cancel request, progress and dedupe key follow, without deciding", () => {
  const reasons = explain({
    state: "claimed",
    claim,
    failedCount: 2,
    lostCount: 1,
    error: "ECONNRESET",
    dedupeKey: "k1",
    isCancelRequested: true,
    progress: { done: 3, total: 10, text: "third page" },
  });
  expect(reasons.map((reason) => reason.sentence).slice(2)).toEqual([
    "Its cancellation was asked for: its handler is told, and it ends as cancelled unless it ends well before.",
    "Its progress: 3 of 10, third page.",
    "Retry 2 of 5: 2 attempts have failed. Last error: ECONNRESET.",
    "Its worker died under it 1 time, 3 are allowed.",
    "Its dedupe key is `k1`.",
  ]);
  expect(reasons.filter((reason) => reason.decides)).toHaveLength(1);
});

test.each([
  "blocked",
  "scheduled",
  "waiting",
  "ready",
  "claimed",
  "done",
  "dead",
  "cancelled",
] as const)("a %s task of which little is known still has a deciding sentence", (state) => {
  const { task, definition, kind, failedCount, lostCount, error, dedupeKey, attempts } = base;
  const reasons = explainTask({
    task,
    definition,
    kind,
    failedCount,
    lostCount,
    error,
    dedupeKey,
    attempts,
    state,
  });
  expect(reasons.some((reason) => reason.decides)).toBe(true);
  expect(reasons.map((reason) => reason.sentence).join(" ")).not.toMatch(/undefined|null|NaN/);
});
