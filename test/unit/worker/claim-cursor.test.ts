import { describe, expect, test } from "@jest/globals";
import { asTaskId } from "../../../shared/core/ids";
import { ClaimCursor } from "../../../shared/worker/run/claim-cursor";

const place = (id: string) => ({ priority: 100, rank: "0", taskId: asTaskId(id) });
const claimed = (id: string) => ({ last: place(id), nextDueMs: null });

describe("the place that a claim begins at", () => {
  test("a claim begins where the last one ended, for less than a second", () => {
    const cursor = new ClaimCursor();
    expect(cursor.hintAt(0)).toBeNull();
    cursor.note(claimed("1"), 0);
    cursor.note(claimed("2"), 900);
    expect(cursor.hintAt(999)).toEqual(place("2"));
    expect(cursor.hintAt(1_000)).toBeNull();
    cursor.note(claimed("3"), 1_000);
    expect(cursor.hintAt(1_999)).toEqual(place("3"));
  });

  test("a claim begins at the start after one that claimed nothing", () => {
    const cursor = new ClaimCursor();
    cursor.note(claimed("1"), 0);
    cursor.note({ last: null, nextDueMs: null }, 1);
    expect(cursor.hintAt(2)).toBeNull();
  });

  test("a claim begins at the start while tasks are still due", () => {
    const cursor = new ClaimCursor();
    cursor.note({ last: place("1"), nextDueMs: 0 }, 0);
    expect(cursor.hintAt(1)).toBeNull();
    cursor.note({ last: place("2"), nextDueMs: 5 }, 1);
    expect(cursor.hintAt(2)).toEqual(place("2"));
  });
});
