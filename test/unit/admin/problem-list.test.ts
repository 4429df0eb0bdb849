import { expect, jest, test } from "@jest/globals";
import { readEnqueueRequest } from "../../../shared/admin/enqueue-request";
import { moreProblemsOf, problemsOf, take } from "../../../shared/admin/read-result";
import type { ReadResult } from "../../../shared/admin/read-result";
import { ProblemList, SearchBudget } from "../../../shared/admin/problem-list";
import { limits } from "../../../shared/core/limits";

function errorOf(read: ReadResult<unknown>): Error {
  try {
    take(read);
  } catch (error) {
    return error as Error;
  }
  throw new Error("It was taken");
}

test("the first 20 problems of 10,000 are listed and the others are counted", () => {
  const tasks = Array.from({ length: 10_000 }, () => ({ payload: 5 }));
  const error = errorOf(readEnqueueRequest({ tasks }));
  expect(problemsOf(error)).toHaveLength(20);
  expect(problemsOf(error)[19]?.field).toBe("tasks[19].payload");
  expect(moreProblemsOf(error)).toBe(9_980);
  expect(error.message).toMatch(/; and 9,980 more$/);
});

test("20 problems are all listed and nothing is said of others", () => {
  const tasks = Array.from({ length: 20 }, () => ({ payload: 5 }));
  const error = errorOf(readEnqueueRequest({ tasks }));
  expect(moreProblemsOf(error)).toBe(0);
  expect(error.message).not.toContain("more");
});

test("a problem that is only counted isn't described", () => {
  const list = new ProblemList();
  const describe = jest.fn(() => ({ field: "a", value: "1", expected: "2" }));
  for (let count = 0; count < 1_000; count += 1) list.add(describe);
  expect(describe).toHaveBeenCalledTimes(limits.problemsMax);
});

test("the parts of one input share 50 searches for near names", () => {
  const searches = new SearchBudget();
  const found = Array.from({ length: 200 }, () =>
    new ProblemList(searches).nearTo("pirority", ["priority"]),
  );
  expect(found.filter((text) => text !== "")).toHaveLength(50);
});
