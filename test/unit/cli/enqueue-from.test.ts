import { describe, expect, test } from "@jest/globals";
import { invalidInput, problemsOf } from "../../../shared/admin/read-result";
import {
  describeDone,
  describeProgress,
  howToGoOn,
  noneDone,
} from "../../../shared/cli/from-texts";
import type { FromDone } from "../../../shared/cli/from-texts";
import type { FromPlan } from "../../../shared/cli/from-options";
import { namingLines } from "../../../shared/cli/naming-lines";
import { InvalidArgumentError, TaskgateError } from "../../../shared/core/errors";

const plan = { definition: "greet", source: "a.csv", afterLine: 0, key: undefined } as FromPlan;
const done: FromDone = { ...noneDone(0), calls: 2, lines: 2_001, enqueued: 1_999, duplicates: 1 };
const task = (number: number) => ({ number, last: number, bytes: 9, read: () => null });

describe("sentences about a file", () => {
  test("the sentences about a file tell how to go on, with and without a key", () => {
    expect(howToGoOn(done, plan, [])).toBe(
      "All tasks up to line 2001 are enqueued: --after-line 2001 goes on behind it.",
    );
    expect(howToGoOn(done, { ...plan, key: "id" }, [])).toBe(
      "All tasks up to line 2001 are enqueued: --after-line 2001 goes on behind it; the same command again counts them as there already.",
    );
    expect(howToGoOn(noneDone(7), { ...plan, afterLine: 7 }, [])).toBe("Nothing was enqueued.");
  });

  test("the sentences about a file name the lines whose tasks may be enqueued, where an answer was lost", () => {
    expect(howToGoOn(done, plan, [task(2_002), task(2_500)])).toMatch(
      / Tasks of the lines 2002 to 2500 may be enqueued, too\.$/,
    );
    expect(howToGoOn(noneDone(0), plan, [task(1)])).toBe(
      "Nothing was enqueued. Tasks of the lines 1 to 1 may be enqueued, too.",
    );
  });

  test("the sentences about a file have exact sums, one or several", () => {
    expect(describeDone(done, plan)).toBe("1999 tasks were added to greet, 1 was there already.");
    const many = { ...done, enqueued: 1, duplicates: 1_000_000, replaced: 2 };
    expect(describeDone(many, plan)).toBe(
      "1 task was added to greet, 1000000 were there already, 2 carry the new payload.",
    );
    expect(describeDone(noneDone(0), plan)).toBe("No task was added: a.csv has none.");
  });

  test("the sentences about a file have a bar where the length is known", () => {
    expect(describeProgress(done, 0.5, 61_000)).toBe(
      "[############------------]  50 %  line 2001: 1999 added, 1 there already, about 1 min 1 s left",
    );
    expect(describeProgress(done, null, null)).toBe("line 2001: 1999 added, 1 there already");
  });
});

describe("an error that names tasks by their place", () => {
  const tasks = [{ number: 4 }, { number: 9 }];

  test("an error of several tasks names their lines, in message, field and problems", () => {
    const error = new InvalidArgumentError("tasks[1].payload: expected an object (5)", {
      code: "TASKGATE_ARG_RULE",
      details: { field: "tasks[1].payload" },
    });
    expect(namingLines(error, tasks)).toMatchObject({
      message: "line 9.payload: expected an object (5)",
      code: "TASKGATE_ARG_RULE",
      details: { field: "line 9.payload" },
    });
    const named = namingLines(
      invalidInput([{ field: "tasks[0].kind", value: "x", expected: "y" }]),
      tasks,
    );
    expect(problemsOf(named)).toEqual([{ field: "line 4.kind", value: "x", expected: "y" }]);
  });

  test("an error names the line of a call's only task, but not for what isn't the task's", () => {
    const alone = [{ number: 4 }];
    expect(
      namingLines(new InvalidArgumentError("payload: expected what kind k takes"), alone),
    ).toMatchObject({ message: "line 4.payload: expected what kind k takes" });
    expect(namingLines(new InvalidArgumentError("definition: unknown"), alone)).toMatchObject({
      message: "definition: unknown",
    });
  });

  test("an error stays as it is where it is no mistake of the caller's", () => {
    const away = new TaskgateError("TASKGATE_STORE_UNAVAILABLE", "tasks[0] is away");
    expect(namingLines(away, tasks)).toBe(away);
  });
});
