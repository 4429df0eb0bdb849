import { expect, test } from "@jest/globals";
import { defineTask } from "../../shared";
import { readLimitRequest } from "../../shared/admin/requests";
import { describeProblems } from "../../shared/admin/problem-list";
import { jsonTextOf } from "../../shared/core/json-text";
import { expectLimit } from "../../shared/testing/memory-store/arguments";
import { readPage } from "./markdown";

/** The messages of the table, without their marks of code. */
const shown = new Map(
  [
    ...readPage("docs/reference/errors.md").matchAll(/^\| ([A-Z a-z,]+?) +\| (`+)(.+?)\2 +\|$/gm),
  ].map(([, where = "", , message = ""]) => [where, message]),
);

function thrownBy(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return (error as Error).message;
  }
  return "nothing";
}

test.each<[string, () => string]>([
  [
    "options in TypeScript",
    () => thrownBy(() => defineTask({ name: "greet", limit: 1_001, run: () => Promise.resolve() })),
  ],
  [
    "calls in SQL",
    () =>
      thrownBy(() => {
        expectLimit(1_001);
      }),
  ],
  [
    "HTTP, command line, queues",
    () => {
      const read = readLimitRequest({ limit: 1_001 });
      return read.ok ? "nothing" : describeProblems(read);
    },
  ],
  [
    "payloads and results",
    () => {
      const written = jsonTextOf("payload", () => 1, "container");
      return "problem" in written ? written.problem : "nothing";
    },
  ],
])("the page of errors shows the message of a bad value as it is: %s", (where, message) => {
  expect(message()).toBe(shown.get(where));
});
