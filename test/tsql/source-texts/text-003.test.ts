import { describe, expect, test } from "@jest/globals";
import { engineNames } from "../cases/variants";
import { explore, exploreAll } from "../../tsql-server/schedule/explore";
import type { Run } from "../../tsql-server/schedule/run";
import { answersIn, playScene, waitsIn } from "./played";
import { errorsOf, textScenario, valuesOf } from "./text-scenarios";
import { edited, textSql } from "./texts";

/* Source text 003: a reader that takes one task after the other, inside a transaction that spans the task's work. */
const tasks = (count: number): string =>
  `${textSql("text-003")}
${Array.from({ length: count }, (_, place) => `EXEC dbo.ExecAsync N'SELECT ${String(place + 1)} AS Worked;';`).join("\n")}`;

function eachOnce(count: number): (run: Run) => string | undefined {
  return (run) => {
    const [error] = errorsOf(run);
    if (error !== undefined) return `error ${String(error)}`;
    const worked = valuesOf(run, "Worked").map(Number).sort();
    return worked.join() === Array.from({ length: count }, (_, place) => place + 1).join()
      ? undefined
      : `tasks ${worked.join(", ")} were worked on`;
  };
}

describe.each(engineNames)("%s", (engine) => {
  test("each of three tasks is read by one of two readers, once, in every order in the model (S3.2)", () => {
    const result = exploreAll(
      textScenario({
        script: tasks(3),
        engine,
        callers: [["EXEC dbo.ReadOne; EXEC dbo.ReadOne;"], ["EXEC dbo.ReadOne;"]],
        atEnd: eachOnce(3),
        afterStep: (_run, report) => (report.wait === undefined ? undefined : "a reader waits"),
      }),
    );

    expect(result.interleavings).toBeGreaterThan(1_000n);
  });

  test("a reader without READPAST waits for the other one's task to end", () => {
    const { finding } = explore(
      textScenario({
        script: edited(tasks(2), {
          from: "WITH (READPAST, INDEX (IX_Status))",
          to: "WITH (INDEX (IX_Status))",
        }),
        engine,
        callers: [["EXEC dbo.ReadOne;"], ["EXEC dbo.ReadOne;"]],
        atEnd: eachOnce(2),
        afterStep: (_run, report) => (report.wait === undefined ? undefined : "a reader waits"),
      }),
    );

    expect(finding?.problem).toBe("a reader waits");
  });

  test("the second reader steps over the first one's task in the model (S3.2)", () => {
    const played = playScene("text-003", 0, engine);

    expect(waitsIn(played)).toEqual([]);
    expect(answersIn(played, "worker 2")).toEqual([[{ Worked: 2 }, { TaskID: 2 }]]);
  });

  test("the log of a task that runs: seen by a dirty read only; without row versions a clean one waits", () => {
    const played = playScene("text-003", 1, engine);
    const answers = answersIn(played, "watcher");

    expect(answers[0]).toEqual([{ LogID: 1, TaskID: 1 }]);
    expect(waitsIn(played)).toHaveLength(engine === "locking" ? 1 : 0);
    expect(answers.slice(1)).toEqual(engine === "locking" ? [[{ LogID: 1, TaskID: 1 }]] : []);
  });

  test("a reader that dies leaves its task pending, and no trace in the log", () => {
    const answers = answersIn(playScene("text-003", 2, engine), "watcher");

    expect(answers).toEqual([[1, 2, 3].map((TaskID) => ({ TaskID, Status: "Pending" }))]);
  });
});
