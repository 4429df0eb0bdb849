import { describe, expect, test } from "@jest/globals";
import { nextPoolCall, tokensKept } from "../../../shared/worker/run/next-pool-call";
import type { PoolView } from "../../../shared/worker/run/next-pool-call";

/* What the calls of a process on one limit ask the database next, decided by the pool's numbers alone. */

const busy: PoolView = {
  lease: { count: 4, inUse: 4 },
  firstWants: null,
  mayAsk: true,
  wantedBack: 0,
  idleDue: 0,
  isPaused: false,
};
const idle: PoolView = { ...busy, lease: { count: 4, inUse: 2 } };
const none: PoolView = { ...busy, lease: null };
const handedOver: PoolView = { ...busy, lease: { count: 0, inUse: 0 } };

describe("the next call of a pool", () => {
  test.each([
    ["nothing is asked while all tokens are in use and no call waits", busy, null],
    ["nothing is asked while no call has come", none, null],
    ["a first call starts an execution", { ...none, firstWants: 1 }, "start"],
    ["a start waits for its instant", { ...none, firstWants: 1, mayAsk: false }, null],
    ["a waiting call asks for more tokens", { ...busy, firstWants: 1 }, "acquire"],
    ["an ask for more waits for its instant", { ...busy, firstWants: 1, mayAsk: false }, null],
    ["a paused limit isn't asked for more", { ...busy, firstWants: 1, isPaused: true }, null],
    [
      "tokens that are wanted back aren't asked for",
      { ...busy, firstWants: 1, wantedBack: 1 },
      null,
    ],
    ["a call that finds its token free isn't asked for", { ...idle, firstWants: 2 }, null],
    ["a call that finds too few tokens free asks for more", { ...idle, firstWants: 3 }, "acquire"],
    ["idle tokens stay until they are due", idle, null],
    ["idle tokens go back when they are due", { ...idle, idleDue: 1 }, "release"],
    ["idle tokens that are wanted back go at once", { ...idle, wantedBack: 1 }, "releaseRequested"],
    ["tokens that are wanted back wait for a body's end", { ...busy, wantedBack: 1 }, null],
    ["an execution without tokens ends", handedOver, "release"],
    [
      "an execution without tokens asks for a waiting call",
      { ...handedOver, firstWants: 1 },
      "acquire",
    ],
    [
      "tokens that are too few for the next call, and of which more were denied, go back",
      { ...idle, firstWants: 5, mayAsk: false },
      "part",
    ],
    [
      "tokens that suffice for the next call once the bodies end stay",
      { ...idle, firstWants: 4, mayAsk: false },
      null,
    ],
  ] satisfies [string, PoolView, string | null][])("%s", (_title, view, call) => {
    expect(nextPoolCall(view)).toBe(call);
  });
});

describe("the tokens that a pool keeps", () => {
  const none = { wantedBack: 0, idleDue: 0 };

  test("a part goes back but for the tokens that bodies run on", () => {
    expect(tokensKept("part", { count: 5, inUse: 2 }, none)).toBe(2);
  });

  test("idle tokens go back as far as they are due and idle", () => {
    expect(tokensKept("release", { count: 5, inUse: 2 }, { ...none, idleDue: 1 })).toBe(4);
    expect(tokensKept("release", { count: 5, inUse: 2 }, { ...none, idleDue: Infinity })).toBe(2);
  });

  test("a request gets all tokens above the limit, and at most half of the others", () => {
    expect(tokensKept("releaseRequested", { count: 8, inUse: 0 }, { ...none, wantedBack: 6 })).toBe(
      2,
    );
    expect(tokensKept("releaseRequested", { count: 7, inUse: 0 }, { ...none, wantedBack: 1 })).toBe(
      4,
    );
  });

  test("a request never takes tokens that bodies run on", () => {
    expect(tokensKept("releaseRequested", { count: 8, inUse: 5 }, { ...none, wantedBack: 9 })).toBe(
      5,
    );
    expect(tokensKept("releaseRequested", { count: 8, inUse: 0 }, { ...none, wantedBack: 9 })).toBe(
      0,
    );
  });
});
