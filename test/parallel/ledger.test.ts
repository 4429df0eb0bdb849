import { describe, expect, test } from "@jest/globals";
import type { TaskFacts } from "../../shared/ports/task-store";
import { defaultSettings } from "../support/builders";
import { Fates } from "./fates";
import { Holdings } from "./holdings";

/* Each rule of the ledger can be broken, and what can't be known breaks none. */

const lease = 1_000;

function holdings(): Holdings {
  const settings = { ...defaultSettings, limit: 2, prefetchMax: 1 };
  const made = new Holdings(new Map([["alpha", settings]]));
  made.raiseSlots("blue of alpha", 1);
  return made;
}

function start(made: Holdings, execution: string, tokens = 1): void {
  made.start(execution, { definition: "alpha", tokens, leaseUntilMs: made.movedMs + lease });
}

describe("the holders of tasks", () => {
  test("the ledger finds more tokens at once than the limit", () => {
    const made = holdings();
    start(made, "e1");
    start(made, "e2");
    expect(() => {
      start(made, "e3");
    }).toThrow("alpha: 3 tokens are held at once, the limit is 2");
  });

  test("a task has no two holders while it is being given back, when a lease may be over, or the limit has been raised", () => {
    const made = holdings();
    start(made, "e1", 2);
    made.keepTokens("e1", 1);
    start(made, "e2");
    made.end("e2");
    start(made, "e3");
    made.beginMove(lease + 1);
    start(made, "e4", 2);
    made.raiseLimit("alpha", 4);
    start(made, "e5", 2);
    expect(made.movedMs).toBe(0);
  });

  test("a lease that was renewed in time counts on", () => {
    const made = holdings();
    start(made, "e1", 2);
    made.beginMove(lease);
    made.endMove(lease);
    made.renew("e1", made.movedMs + lease);
    made.beginMove(lease);
    made.endMove(lease);
    expect(() => {
      start(made, "e2");
    }).toThrow("3 tokens are held at once");
  });

  test("the ledger finds a task with two holders", () => {
    const made = holdings();
    start(made, "e1");
    start(made, "e2");
    made.claim("e1", [{ task: "t1", fence: "1" }]);
    expect(() => {
      made.claim("e2", [{ task: "t1", fence: "2" }]);
    }).toThrow("task t1 was given to e2 while e1 held it");
  });

  test("a task has no two holders when the first has begun to leave it", () => {
    const made = holdings();
    start(made, "e1");
    start(made, "e2");
    made.claim("e1", [{ task: "t1", fence: "1" }]);
    made.leave("e1", ["t1"]);
    made.claim("e2", [{ task: "t1", fence: "2" }]);
    expect(() => {
      made.claim("e1", [{ task: "t1", fence: "2" }]);
    }).toThrow("task t1 under 2 was claimed twice");
  });

  test("more claims than tokens and their prefetched ones", () => {
    const made = holdings();
    start(made, "e1");
    const claimed = ["t1", "t2", "t3"].map((task) => ({ task, fence: "1" }));
    expect(() => {
      made.claim("e1", claimed);
    }).toThrow("e1 holds 3 claims with 1 tokens");
  });

  test("the ledger finds more tasks of a group than it has slots", () => {
    const made = holdings();
    for (const task of ["t1", "t2"]) made.putInGroup(task, "blue of alpha");
    start(made, "e1");
    start(made, "e2");
    made.claim("e1", [{ task: "t1", fence: "1" }]);
    expect(() => {
      made.claim("e2", [{ task: "t2", fence: "2" }]);
    }).toThrow("group blue of alpha: 2 at once, slots 1");
  });
});

test("a task of which two calls name another group counts in none", () => {
  const made = holdings();
  for (const task of ["t1", "t2"]) made.putInGroup(task, "blue of alpha");
  made.putInGroup("t1", "blue of beta");
  start(made, "e1");
  start(made, "e2");
  made.claim("e1", [{ task: "t1", fence: "1" }]);
  made.claim("e2", [{ task: "t2", fence: "2" }]);
  expect(made.movedMs).toBe(0);
});

describe("what becomes of tasks", () => {
  const completion = { durationMs: 5, result: null };

  function facts(changes: Partial<TaskFacts>): TaskFacts {
    const { durationMs, result } = completion;
    const fixed = { task: "1", definition: "alpha", kind: "alpha", priority: 100, createdAt: "" };
    const counts = { failedCount: 0, lostCount: 0, error: null, attempts: [] };
    const rest = { dedupeKey: null, payload: null, state: "done", durationMs, result } as const;
    return { ...fixed, ...counts, ...rest, ...changes } as TaskFacts;
  }

  function done(): Fates {
    const fates = new Fates();
    fates.add("1", "call a1");
    fates.complete("1", "7", completion);
    return fates;
  }

  test.each([
    ["is lost", null],
    ["is ready", facts({ state: "ready" })],
    ["took 6 ms", facts({ durationMs: 6 })],
    ["came to {}", facts({ result: "{}" })],
  ])("a task that was completed %s", (what, found) => {
    expect(() => {
      done().check("1", found);
    }).toThrow(what);
  });

  test("the ledger finds a task that is added twice", () => {
    expect(() => {
      done().add("1", "call b1");
    }).toThrow("task 1 was added by call a1 and by call b1");
  });

  test("the ledger finds a task that ends under a fence that is over", () => {
    const fates = new Fates();
    fates.endClaim("1", "7", "retry");
    expect(() => {
      fates.complete("1", "7", completion);
    }).toThrow("task 1 under 7 ended retry, then done");
  });

  test("the ledger finds a task that ends twice without a redrive between", () => {
    const fates = done();
    fates.complete("1", "7", completion);
    fates.check("1", facts({}));
    fates.end("1", "cancelled");
    expect(() => {
      fates.check("1", facts({}));
    }).toThrow("ended more than once");
    fates.redrive("1");
    fates.check("1", facts({}));
  });

  test("the ledger finds a task that is done, of which no caller was told", () => {
    const fates = new Fates();
    fates.add("1", "call a1");
    expect(() => {
      fates.check("1", facts({}));
    }).toThrow("is done");
  });

  test("a failed attempt is missing", () => {
    const fates = new Fates();
    fates.endClaim("1", "7", "retry");
    expect(() => {
      fates.check("1", facts({ state: "scheduled" }));
    }).toThrow("has no attempt 7");
  });
});
