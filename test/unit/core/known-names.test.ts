import { describe, expect, test } from "@jest/globals";
import { InvalidArgumentError } from "../../../shared/core/errors";
import { inTask } from "../../../shared/core/error-places";
import { checkNames } from "../../../shared/core/known-names";
import { defineTask } from "../../../shared/worker/define/define-task";
import { TestBench } from "../../../shared/testing/test-bench";

const run = async (): Promise<void> => undefined;
const define = (options: object): unknown => defineTask({ name: "t", run, ...options } as never);

describe("an option that other libraries have is answered with the one that does the same:", () => {
  test.each([
    ["handler", "handler: unknown option of defineTask. Here it is `run`."],
    ["concurrency", "concurrency: unknown option of defineTask. Here it is `limit`."],
    ["retries", "retries: unknown option of defineTask. Here it is `retry`."],
    ["constructor", "constructor: unknown option of defineTask. Known are"],
  ])("the option %s is answered with the one that does the same", (name, message) => {
    expect(() => define({ [name]: 4 })).toThrow(message);
  });

  test("an option of another library is answered only where its counterpart is known", () => {
    expect(() => {
      checkNames("enqueue", { delay: 4 }, ["runInMs", "runAt"]);
    }).toThrow("delay: unknown option of enqueue. Here it is `runInMs`. Known are runInMs, runAt");
    expect(() => {
      checkNames("other", { delay: 4 }, ["key"]);
    }).toThrow("delay: unknown option of other. Known are key");
  });
});

test("a number that is given as a text is shown as one", () => {
  expect(() => define({ limit: "4" })).toThrow(
    'limit: expected a whole number in 0..1000 (the text "4")',
  );
});

test("the place of one of several tasks stands within a sentence that names its field", () => {
  const of = (message: string): string =>
    (inTask(new InvalidArgumentError(message), { index: 1, of: 2 }) as Error).message;
  expect(of("Expected `payload` to be JSON")).toBe("Expected `tasks[1].payload` to be JSON");
  expect(of("priority: expected a whole number")).toBe(
    "tasks[1].priority: expected a whole number",
  );
});

test("a bench of a task that is in no list names what it takes", () => {
  const task = defineTask({ name: "t", run });
  expect(() => new TestBench(task as never)).toThrow(
    "tasks: expected a list of what defineTask returns",
  );
});
