import type { Finding } from "./replay";
import { checkEnd, replay, takeChecked } from "./replay";
import type { Choice, Scenario } from "./run";
import { Run } from "./run";

/*
 * Orders in which one caller is interrupted once: it takes some steps, the others come one after the other as far as they can,
 * and it goes on. They are as many as there are steps, and most faults between a look and a lock need no more (M. Musuvathi,
 * S. Qadeer: Iterative context bounding for systematic testing of multithreaded programs, 2007).
 */

/** What these orders have seen. */
export interface Switches {
  readonly runs: number;
  readonly finding: Finding | undefined;
}

/** Interrupts each caller behind each of its steps, by the others in each order. Ends at the first problem. */
export function switchOnce(scenario: Scenario): Switches {
  let runs = 0;
  for (const order of ordersOf([...scenario.callers.keys()])) {
    for (let steps = 0; ; steps += 1) {
      const run = new Run(scenario);
      runs += 1;
      const { problem, isBefore } = interrupt(run, order, steps);
      if (problem !== undefined)
        return { runs, finding: { ...replay(scenario, run.schedule), problem } };
      if (!isBefore) break;
    }
  }
  return { runs, finding: undefined };
}

/** `isBefore`: the first caller had more steps to take when it was interrupted. */
function interrupt(
  run: Run,
  [first = 0, ...others]: readonly number[],
  steps: number,
): { problem: string | undefined; isBefore: boolean } {
  for (let taken = 0; taken < steps; taken += 1) {
    const next = stepOf(run.choices(), first);
    if (next === undefined) break;
    const { problem } = takeChecked(run, next);
    if (problem !== undefined) return { problem, isBefore: true };
  }
  const isBefore = stepOf(run.choices(), first) !== undefined;
  for (let choices = run.choices(); choices.length > 0; choices = run.choices()) {
    const steppers = [...others, first].map((caller) => stepOf(choices, caller));
    const next = steppers.find((choice) => choice !== undefined) ?? choices[0];
    if (next === undefined) break;
    const { problem } = takeChecked(run, next);
    if (problem !== undefined) return { problem, isBefore };
  }
  return { problem: checkEnd(run), isBefore };
}

function stepOf(choices: readonly Choice[], caller: number): Choice | undefined {
  return choices.find((choice) => choice.action === "step" && choice.caller === caller);
}

function ordersOf(callers: readonly number[]): number[][] {
  if (callers.length < 2) return [[...callers]];
  return callers.flatMap((caller) =>
    ordersOf(callers.filter((other) => other !== caller)).map((rest) => [caller, ...rest]),
  );
}
