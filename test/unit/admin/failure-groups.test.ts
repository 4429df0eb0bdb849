import { describe, expect, test } from "@jest/globals";
import { groupFailures, likeOf } from "../../../shared/admin/failure-groups";
import { asTaskId } from "../../../shared/core/ids";
import type { EqualFailures } from "../../../shared/ports/task-store";

describe("the name of a group of errors", () => {
  test.each([
    ["Partner answered 500 for order 17", "Partner answered 500 for order #"],
    ["Partner answered 400 for order 17", "Partner answered 400 for order #"],
    ["Partner answered 200 for order 1723", "Partner answered # for order #"],
    ["503: try later (429), status=502, HTTP 404.", "503: try later (429), status=502, HTTP 404."],
    ["order 450 of 512 was refused", "order # of # was refused"],
    ["Error: Request failed with status code 503", "Error: Request failed with status code 503"],
    ["HTTP/1.1 502 Bad Gateway for row 7", "HTTP/# 502 Bad Gateway for row #"],
    ["orders/450 of v4.50, 1,450 rows, 450-7, a450, 4503", "orders/# of v#, # rows, #-#, a#, #"],
    ["port 10.0.0.1:500 at 12:500", "port # at #"],
    ["row 1,204 at 12:03:55.120", "row # at #"],
    ["no file 6f1c2f6e-3f0d-4d6b-9a51-0d0f6b2f3c11", "no file #"],
    ["at 0xDEADbeef in 9f86d081884c7d65", "at # in #"],
    ["Expected `to` to be an address", "Expected `to` to be an address"],
    ["decade facade", "decade facade"],
    ["the first line\nthe second, 2", "the first line"],
    [null, "(no error was told)"],
  ])("%j is %j", (error, like) => {
    expect(likeOf(error)).toBe(like);
  });
});

describe("like errors", () => {
  const failure = (changes: Partial<EqualFailures>): EqualFailures => ({
    definition: "mail",
    kind: "mail",
    error: "order 1",
    count: 1,
    firstAt: "2026-11-22T01:00:00.000Z",
    lastAt: "2026-11-22T01:00:00.000Z",
    taskIds: [asTaskId("1")],
    ...changes,
  });

  test("like errors are one group: counts add up, the newest one gives error and example", () => {
    const later = "2026-11-22T02:00:00.000Z";
    const newer = failure({ error: "order 2", lastAt: later, taskIds: [asTaskId("9")] });
    for (const failures of [
      [failure({ count: 3 }), newer],
      [newer, failure({ count: 3 })],
    ]) {
      const [found, ...others] = groupFailures(failures);
      expect(others).toEqual([]);
      expect(found?.group).toMatchObject({ count: 4, error: "order 2", example: "9" });
      expect(found?.group).toMatchObject({ firstAt: failure({}).firstAt, lastAt: later });
      expect(found?.taskIds).toEqual(["9", "1"]);
    }
  });

  test("the errors of another definition or kind are groups of their own, most first", () => {
    const groups = groupFailures([
      failure({}),
      failure({ kind: "other", count: 2 }),
      failure({ definition: "post", count: 3 }),
    ]);
    expect(groups.map(({ group }) => group.count)).toEqual([3, 2, 1]);
  });
});
