import { describe, expect, test } from "@jest/globals";
import { plant } from "../bugs/planted-bug";
import { plantedBugs } from "../bugs/planted-bugs";
import { describeWhole } from "../../support/whole";
import type { EngineName } from "../../tsql-server/engine/options";
import { describeFinding } from "./explore-case";
import { allCases } from "./list/all";
import type { ModelCase } from "./model-case";
import { judgePlan, otherPlansOf } from "./other-plans";
import { describePlan, parsePlan } from "./plan-names";
import { findVariant, onPlan, plainVariant } from "./variants";

/* A few cases on every other plan of their accesses. The others run so in `npm run simulate:tsql`. */

const bounds = { statesMax: 50_000, msMax: 60_000 };

function caseOf(name: string): ModelCase {
  const model = allCases.find((one) => one.name === name);
  if (model === undefined) throw new Error(`There is no case ${name}`);
  return model;
}

const cases: readonly [ModelCase, EngineName][] = [
  [caseOf("acquire-x-lower"), "azure"],
  [caseOf("complete-x-complete"), "azure"],
  [caseOf("fail-x-same-fail"), "azure"],
  [caseOf("fail-x-same-fail"), "locking"],
];

describeWhole("On every other plan", () => {
  test.each(cases.map(([model, engine]) => [model.name, engine, model] as const))(
    "%s is safe, %s",
    (_name, engine, model) => {
      const variant = plainVariant(engine);
      const unsafe: string[] = [];
      const kinds = new Set<string>();
      for (const plan of otherPlansOf(model, variant, bounds)) {
        const verdict = judgePlan({ model, variant }, plan, bounds);
        kinds.add(verdict.kind);
        if (verdict.kind === "unsafe")
          unsafe.push(describeFinding(model, onPlan(variant, plan), verdict.finding));
      }

      expect(unsafe).toEqual([]);
      expect(kinds).toContain("alike");
      expect(kinds).not.toContain("incomplete");
    },
    120_000,
  );
});

test("a name of another plan says all that is needed to run on it again", () => {
  const plan = {
    access: "Taskgate.Work:240 r",
    path: { index: "PK_Ready", isScan: true },
  };
  const name = describePlan(plan);

  expect(name).toBe("Taskgate.Work:240 r by PK_Ready from end to end");
  expect(parsePlan(name)).toEqual(plan);
  expect(parsePlan("Taskgate.Work:240 r by PK_Ready")).toEqual({
    ...plan,
    path: { index: "PK_Ready", isScan: false },
  });
  expect(parsePlan("row after row")).toBeUndefined();
  expect(findVariant(`azure, ${name}`)?.options.forcedPaths).toEqual(
    new Map([[plan.access, plan.path]]),
  );
  expect(findVariant("azure, nothing of the kind")).toBeUndefined();
});

describe("the findings on another plan", () => {
  test("a new wait: told, with its caller and place", () => {
    const model = caseOf("complete-x-complete");
    const variant = plainVariant("azure");
    const plans = otherPlansOf(model, variant, bounds);
    const [, walk] = plans.filter(
      ({ access, path }) => /Work:\d+ x$/.test(access) && path.index === "PK_TaskExecution",
    ); // the first statement only reads it, the second locks it
    if (walk === undefined) throw new Error("Work no longer reads its execution's row by x");

    expect(walk.path.isScan).toBe(true);
    expect(judgePlan({ model, variant }, walk, bounds)).toEqual({
      kind: "waits",
      problem: expect.stringMatching(
        /^no waiting: caller \d waits as the case doesn't permit: U on TaskExecution/,
      ),
    });
  });

  test("a broken promise is a fault, however long a call waits", () => {
    const bug = plantedBugs.find(({ foundBy }) => foundBy === "release-x-release");
    if (bug === undefined) throw new Error("No planted bug is found by that case");
    const model = caseOf(bug.foundBy);
    const variant = { ...plainVariant(bug.engine), edit: plant(bug) };
    const plan = otherPlansOf(model, plainVariant(bug.engine), bounds).find((one) => one.isAllowed);
    if (plan === undefined) throw new Error("There is no other plan");

    const verdict = judgePlan({ model, variant }, plan, bounds);

    expect(verdict.kind === "unsafe" ? verdict.finding.problem : verdict.kind).toMatch(bug.finding);
  });

  test("the hint that a promise rests on, where it forbids the plan", () => {
    const { model, variant, plan } = planOf(
      "enqueue-x-hand-over",
      /^Taskgate\.EnqueueTasks:\d+ g by UQ_TaskGroup_Key from/,
    );

    expect(plan.isAllowed).toBe(false);
    expect(judgePlan({ model, variant }, plan, bounds)).toEqual({
      kind: "hinted",
      problem: expect.stringContaining("no task waits for a group that has a free slot"),
      breaksPromise: true,
    });
  });

  test("rows that a purge stepped over are gone when it comes again", () => {
    const { model, variant, plan } = planOf(
      "purge-x-fail",
      /^Taskgate\.FailTasks:\d+ x by PK_TaskExecution from/,
    );
    const { comesAgain: _, ...once } = model;

    expect(plan.isAllowed).toBe(true);
    expect(judgePlan({ model, variant }, plan, bounds).kind).toBe("waits");
    expect(judgePlan({ model: once, variant }, plan, bounds)).toMatchObject({
      kind: "unsafe",
      finding: { problem: "3 rows were purged" },
    });
  });
});

/** A plan of such a name, on Azure. */
function planOf(name: string, plan: RegExp) {
  const model = caseOf(name);
  const variant = plainVariant("azure");
  const found = otherPlansOf(model, variant, bounds).find((one) => plan.test(describePlan(one)));
  if (found === undefined) throw new Error(`${name} could have no plan ${String(plan)}`);
  return { model, variant, plan: found };
}
