import { SimulationError } from "../../tsql-server/engine/sql-error";
import type { World } from "../../tsql-server/engine/world";
import { CoverageWatch } from "./check";
import type { Check } from "./check";
import { BudgetError, EndlessWaitError } from "./local-server";
import type { LocalServerOptions } from "./local-server";
import type { SuiteTest, TestRun } from "./suite";
import type { Killer } from "./verdict";

/** More than any test takes on the shipped files. */
export const plenty: LocalServerOptions = { stepsMax: 5_000_000, statementsMax: 5_000_000 };
/** The twentieth part of the tests that takes half of the time takes more. */
export const little: LocalServerOptions = { stepsMax: 2_000, statementsMax: 2_000 };

/** What the contract suite does on the shipped files, the quickest tests first. */
export interface ContractRun {
  readonly checks: readonly Check[];
  /** Of the tests that fail. */
  readonly failures: readonly string[];
}

/** Runs every test on the shipped files; those that pass are checks. A test that takes more than is allowed is left out. */
export async function runContract(
  tests: readonly SuiteTest[],
  template: World,
  allowed = plenty,
): Promise<ContractRun> {
  const checks: Check[] = [];
  const failures: string[] = [];
  for (const test of tests) {
    const watch = new CoverageWatch(template);
    const run = await test.run(template, allowed);
    if (run.failure === undefined) checks.push(toCheck(test, run, watch.ran()));
    else if (!(run.failure instanceof BudgetError))
      failures.push(`${test.title}: ${run.failure.message}`);
  }
  return { checks: checks.sort((a, b) => a.size - b.size), failures };
}

function toCheck(test: SuiteTest, run: TestRun, ran: ReadonlySet<string>): Check {
  return {
    title: test.title,
    ran,
    size: run.steps + run.statements,
    run: async (template) => {
      const { failure } = await test.run(template, budgetOf(run));
      return failure && { by: killerOf(failure), why: failure.message };
    },
  };
}

/** What a test may do on a mutant: ten times as much as on the shipped files. */
function budgetOf({ steps, statements }: TestRun): LocalServerOptions {
  return { stepsMax: 10 * steps + 1_000, statementsMax: 10 * statements + 1_000 };
}

function killerOf(failure: Error): Killer {
  if (failure instanceof BudgetError) return "steps";
  if (failure instanceof EndlessWaitError) return "wait";
  return failure instanceof SimulationError ? "engine" : "test";
}
