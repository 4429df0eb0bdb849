import { describe, expect, test } from "@jest/globals";
import { TokenPollSchedule } from "../../../shared/worker/run/token-poll-schedule";

/* When a worker asks for more tokens: seldom, soon after it was noted, at once when one is free. */

/** The instants at which it asks when nothing else happens. */
function pollsOf(polls: TokenPollSchedule, count: number): number[] {
  return Array.from({ length: count }, () => {
    const atMs = polls.nextPollMs;
    polls.notePoll(atMs);
    return atMs;
  });
}

describe("token polls", () => {
  test("the token polls are half a second apart", () => {
    expect(pollsOf(new TokenPollSchedule(1_000), 3)).toEqual([1_500, 2_000, 2_500]);
  });

  test("the token polls after a noted denial wait about half of the time waited so far, then as before", () => {
    const polls = new TokenPollSchedule(0);
    polls.pollOften(0);
    expect(pollsOf(polls, 11)).toEqual([
      50, 100, 175, 285, 455, 705, 1_085, 1_655, 2_505, 3_005, 3_505,
    ]);
  });

  test("the token polls begin anew after a second noted denial", () => {
    const polls = new TokenPollSchedule(0);
    polls.pollOften(0);
    pollsOf(polls, 6);
    polls.pollOften(705);
    expect(pollsOf(polls, 2)).toEqual([755, 805]);
  });

  test("the token polls come at once when a token is free, but not within 50 ms of the last one", () => {
    const polls = new TokenPollSchedule(0);
    polls.notePoll(1_000);
    polls.pollSoon();
    expect(polls.nextPollMs).toBe(1_050);
    polls.notePoll(1_050);
    expect(polls.nextPollMs).toBe(1_550);
  });

  test("the token polls are seldom again after a token was given away", () => {
    const polls = new TokenPollSchedule(0);
    polls.pollOften(0);
    polls.noteReleased(20);
    expect(pollsOf(polls, 2)).toEqual([520, 1_020]);
  });

  test("the token polls count as denied from a denial, or from a token given away, until one is free or granted", () => {
    const polls = new TokenPollSchedule(0);
    expect(polls.isDenied).toBe(false);
    polls.noteAnswer({ granted: 0, demand: null }, 10);
    expect(polls.isDenied).toBe(true);
    polls.pollSoon();
    expect(polls.isDenied).toBe(false);
    polls.noteReleased(20);
    expect(polls.isDenied).toBe(true);
    polls.noteAnswer({ granted: 1, demand: null }, 30);
    expect(polls.isDenied).toBe(false);
  });
});
