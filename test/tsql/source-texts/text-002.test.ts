import { describe, expect, test } from "@jest/globals";
import { engineNames } from "../cases/variants";
import type { EngineName } from "../../tsql-server/engine/options";
import { explore, exploreAll } from "../../tsql-server/schedule/explore";
import type { Run } from "../../tsql-server/schedule/run";
import { answersIn, lockCounts, playScene, waitsIn } from "./played";
import { errorsOf, textScenario, valuesOf } from "./text-scenarios";
import type { TextCase } from "./text-scenarios";
import { answer, question, unhinted } from "./stories";
import { edited, textSql } from "./texts";

/*
 * Source text 002 asks whether parallel requests can ever get the same id. Its two statements are run word for word, in
 * every order of their steps.
 */
const script = textSql("text-002");

function idsAreDifferent(run: Run): string | undefined {
  const ids = valuesOf(run, "Result").map(Number);
  return new Set(ids).size === ids.length ? undefined : `the same id: ${ids.sort().join(", ")}`;
}

/** No request comes away empty while there is work, or with an error. */
function eachGotOne(run: Run): string | undefined {
  const [error] = errorsOf(run);
  if (error !== undefined) return `error ${String(error)}`;
  const found = valuesOf(run, "Result").length;
  return (
    idsAreDifferent(run) ?? (found === run.callers.length ? undefined : `${String(found)} ids`)
  );
}

function requests(statement: string, count: number, engine: EngineName): TextCase {
  return {
    script,
    engine,
    callers: Array.from({ length: count }, () => [statement]),
    atEnd: eachGotOne,
  };
}

const nobodyWaits: TextCase["afterStep"] = (_run, report) =>
  report.wait === undefined ? undefined : "a request waits";

describe.each(engineNames)("%s", (engine) => {
  test("three requests of the answer's statement get three different ids in every order in the model, and none waits (S2.1, S2.4)", () => {
    const result = exploreAll(
      textScenario({ ...requests(answer, 3, engine), afterStep: nobodyWaits }),
    );

    expect(result.interleavings).toBeGreaterThan(1_000n);
  });

  test("two requests of the question's statement get different ids as well, in every order", () => {
    const result = exploreAll(textScenario(requests(question, 2, engine)));

    expect(result.interleavings).toBeGreaterThan(50n);
  });

  test("the question's statement without its hints gives the same id twice", () => {
    const { finding } = explore(
      textScenario({ ...requests(unhinted, 2, engine), atEnd: idsAreDifferent }),
    );

    expect(finding?.problem).toBe("the same id: 1, 1");
  });

  test("a request of the answer's statement without READPAST waits", () => {
    const waiting = edited(answer, { from: ", READPAST", to: "" });
    const { finding } = explore(
      textScenario({ ...requests(waiting, 2, engine), afterStep: nobodyWaits }),
    );

    expect(finding?.problem).toBe("a request waits");
  });

  test("the answer's statement without UPDLOCK is still safe, since the target of an update is read with U", () => {
    const plain = edited(answer, { from: "UPDLOCK, ", to: "" });

    expect(exploreAll(textScenario(requests(plain, 2, engine))).deadlocks).toEqual([]);
  });

  test("the hint READPAST at SERIALIZABLE is refused: error 650", () => {
    const { finding } = explore(
      textScenario(requests(`SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; ${answer}`, 1, engine)),
    );

    expect(finding?.problem).toBe("error 650");
  });

  test("both statements leave the same keys locked, as the text finds", () => {
    const [one, two] = [playScene("text-002", 0, engine), playScene("text-002", 1, engine)];

    expect(answersIn(one, "request 2")).toEqual([[{ Result: 2 }]]);
    expect(answersIn(two, "request 2")).toEqual([[{ Result: 2 }]]);
    expect([...waitsIn(one), ...waitsIn(two)]).toEqual([]);
    expect(lockCounts(one, 0, "request 1")).toEqual(lockCounts(two, 0, "request 1"));
  });
});

describe("without hints, in one order", () => {
  test.each(["versioned", "azure"] as const)(
    "the second request takes the first one's job with row versions, %s",
    (engine) => {
      expect(answersIn(playScene("text-002", 2, engine), "request 2")).toEqual([[{ Result: 1 }]]);
    },
  );
});
