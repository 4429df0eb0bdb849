import { SimulationError } from "../engine/sql-error";
import type { Choice, Scenario, StepReport } from "./run";
import { Run, printSchedule } from "./run";

/** Something that went wrong, with all that is needed to see it again. */
export interface Finding {
  readonly problem: string;
  readonly schedule: readonly Choice[];
  /** One line per lock that was taken, skipped or waited for, with its caller and line, and then the lock table. */
  readonly trace: readonly string[];
}

/** The error after a step, or undefined; a fault of the simulation counts, too. */
export function takeChecked(
  run: Run,
  choice: Choice,
): { report: StepReport | undefined; problem: string | undefined } {
  let report: StepReport;
  try {
    report = run.take(choice);
  } catch (error) {
    if (error instanceof SimulationError) return { report: undefined, problem: error.message };
    throw error;
  }
  return { report, problem: run.scenario.afterStep?.(run, report) };
}

/** The error at the end of a run. */
export function checkEnd(run: Run): string | undefined {
  const [stuck] = run.stuck;
  if (stuck !== undefined) return `${stuck.name} waits for ever`;
  return run.scenario.atEnd?.(run);
}

/** Follows a schedule, then the first choice of each state, and tells what happened as readable lines. */
export function replay(scenario: Scenario, schedule: readonly Choice[]): Finding {
  const run = new Run(scenario);
  const lines: string[] = [];
  const names = new Map(run.callers.map(({ connection, name }) => [connection.id, name]));
  let problem: string | undefined;
  const take = (choice: Choice): void => {
    run.world.trace = [];
    const taken = takeChecked(run, choice);
    problem = taken.problem;
    lines.push(...run.world.trace.map((line) => nameSpeaker(line, names)));
    if (choice.action !== "step")
      lines.push(`${nameOf(run, choice)} ${actionTexts[choice.action]}`);
    const { ended } = taken.report ?? {};
    if (ended !== undefined) lines.push(`${nameOf(run, choice)} has its answer${errorsOf(ended)}`);
  };
  for (const choice of schedule) if (problem === undefined) take(choice);
  for (
    let next = run.choices()[0];
    next !== undefined && problem === undefined;
    next = run.choices()[0]
  ) {
    take(next);
  }
  problem ??= checkEnd(run);
  const locks = run.world.locks.describe().map((line) => `held: ${nameSpeaker(line, names)}`);
  return {
    problem: problem ?? "nothing is wrong",
    schedule: run.schedule,
    trace: [...lines, ...locks],
  };
}

const actionTexts = { cut: "loses its connection", timeUp: "waits no longer" } as const;

function nameOf(run: Run, choice: Choice): string {
  return run.callers[choice.caller]?.name ?? String(choice.caller + 1);
}

function errorsOf(answer: {
  readonly errors: readonly { number: number; message: string }[];
}): string {
  return answer.errors
    .map(({ number, message }) => `; error ${String(number)}: ${message}`)
    .join("");
}

/** Lines begin with the number of a connection: its caller's name tells more. */
function nameSpeaker(line: string, names: ReadonlyMap<number, string>): string {
  return line.replace(/^(\d+)/, (written, number: string) => names.get(Number(number)) ?? written);
}

/** A finding as a text to print. */
export function printFinding(finding: Finding): string {
  return [finding.problem, `schedule: ${printSchedule(finding.schedule)}`, ...finding.trace].join(
    "\n",
  );
}
