import { inspect } from "node:util";
import type { EngineName } from "../tsql-server/engine/options";
import { isSame } from "../tsql/histories/same";
import { litmusCases } from "../tsql/litmus/cases/all-cases";
import { publishedDeadlocks } from "../tsql/litmus/cases/published-deadlocks";
import { raceCases } from "../tsql/litmus/cases/races";
import { expectedResults } from "../tsql/litmus/run-in-model";
import type { LitmusCase, RaceCase } from "../tsql/litmus/litmus-case";
import type { StepResult } from "../tsql/litmus/run-in-model";
import { playLitmus } from "./litmus-play";
import type { Stage } from "./litmus-play";
import { LockView } from "./lock-view";
import { openQuestions } from "./open-questions";
import { playRace } from "./race-play";
import type { StepRow } from "./result";
import { describeError, isOver, rowOf } from "./step";
import type { StepContext, VerifyStep } from "./step";
import { unverifiedRules } from "./unverified-rules";
import type { UnverifiedRule } from "./unverified-rules";

const scripts: readonly LitmusCase[] = [...Object.values(litmusCases).flat(), ...openQuestions];
const races: readonly RaceCase[] = [
  ...raceCases,
  ...publishedDeadlocks.flatMap(({ asReported, cured }) => [asReported, cured]),
];
const racesShare = 0.3;
const roundsMax = 30;

/** What the server does that the model should: each rule on its own, step by step, and races again and again. */
export const litmusStep: VerifyStep = {
  name: "litmus",
  share: 0.3,
  meansNothingSimulated: true,
  run: async (context) => {
    const { engines } = context.place;
    if (engines.length === 0) {
      const summary =
        "optimized locking without READ_COMMITTED_SNAPSHOT: the model has no such engine";
      return [{ what: "scripts", status: "skipped", summary, details: [] }];
    }
    const rows: StepRow[] = [];
    const left = context.endsAtMs - performance.now();
    for (const [index, engine] of engines.entries()) {
      const endsAtMs = context.endsAtMs - (left * (engines.length - 1 - index)) / engines.length;
      rows.push(...(await runOn({ ...context, endsAtMs }, engine)));
    }
    return rows;
  },
};

async function runOn(context: StepContext, engine: EngineName): Promise<StepRow[]> {
  const { place } = context;
  await place.switchTo(engine);
  const view = await LockView.open(place.url, place.lockView);
  const stage: Stage = { url: place.url, schema: place.litmusSchema, view };
  const racesMs = (context.endsAtMs - performance.now()) * racesShare;
  try {
    const played = await runScripts(
      { ...context, endsAtMs: context.endsAtMs - racesMs },
      stage,
      engine,
    );
    return [
      ...scriptRows(played, engine, view !== undefined),
      await runRaces(context, stage, engine),
    ];
  } finally {
    await view?.close();
  }
}

/** A case and its outcome. */
interface Played {
  readonly litmus: LitmusCase;
  /** undefined: as the model says. */
  readonly difference: string | undefined;
}

async function runScripts(
  context: StepContext,
  stage: Stage,
  engine: EngineName,
): Promise<Played[]> {
  const played: Played[] = [];
  const here = scriptsOn(engine);
  for (const litmus of here) {
    if (isOver(context)) break;
    context.say(
      `${engine}, ${String(played.length + 1)} of ${String(here.length)}: ${litmus.title}`,
    );
    played.push({ litmus, difference: await compare(stage, litmus, engine) });
  }
  return played;
}

function scriptsOn(engine: EngineName): LitmusCase[] {
  return scripts.filter(({ engines }) => engines?.includes(engine) ?? true);
}

async function compare(
  stage: Stage,
  litmus: LitmusCase,
  engine: EngineName,
): Promise<string | undefined> {
  try {
    const seen = await playLitmus(stage, litmus, engine);
    const wanted = expectedResults(litmus, engine);
    const at = wanted.findIndex((one, index) => !isSame(normal(one), normal(seen[index])));
    if (at === -1) return undefined;
    const show = (result: StepResult | undefined): string =>
      inspect({ ...result, step: undefined }, { depth: 6, breakLength: Infinity });
    return `${litmus.title}\n${wanted[at]?.step ?? ""}\nthe model: ${show(wanted[at])}\nthe server: ${show(seen[at])}`;
  } catch (error) {
    return `${litmus.title}\n${describeError(error)}`;
  }
}

/** The words of a step are the same anyway, but for the schema. */
function normal(result: StepResult | undefined): unknown {
  return { ...result, step: "" };
}

/** Certain rules pass or fail; for those that weren't seen on a server yet the outcome is the answer. */
function scriptRows(played: readonly Played[], engine: EngineName, hasView: boolean): StepRow[] {
  const all = scriptsOn(engine);
  const isCertain = ({ title }: LitmusCase): boolean =>
    !rulesOn(engine).some((rule) => rule.scripts.includes(title));
  const certain = played.filter(({ litmus }) => isCertain(litmus));
  const remark = hasView
    ? ""
    : "; the login may not see locks (VIEW SERVER STATE): waits are told by silence, locks aren't compared";
  const counts = {
    all: all.filter(isCertain).length,
    passed: certain.filter(({ difference }) => difference === undefined).length,
    failures: certain.flatMap(({ difference }) => difference ?? []),
  };
  return [rowOf(`documented rules on ${engine}`, counts, remark), answers(played, engine)];
}

function rulesOn(engine: EngineName): UnverifiedRule[] {
  return unverifiedRules.filter(({ engines }) => engines?.includes(engine) ?? true);
}

function answers(played: readonly Played[], engine: EngineName): StepRow {
  const asked = rulesOn(engine).flatMap((rule) => {
    const scriptsOfRule = played.filter(({ litmus }) => rule.scripts.includes(litmus.title));
    if (scriptsOfRule.length === 0) return [];
    const different = scriptsOfRule.flatMap(({ difference }) => difference ?? []);
    return [{ rule, different }];
  });
  const otherwise = asked.filter(({ different }) => different.length > 0);
  return {
    what: `open questions on ${engine}`,
    status: "told",
    summary: `${String(asked.length - otherwise.length)} of ${String(asked.length)} answered as the model does${otherwise.length === 0 ? "" : ", the others otherwise"}`,
    details: otherwise.map(({ rule, different }) =>
      [`${rule.rule}: ${rule.question}`, `the model: ${rule.model}`, ...different].join("\n"),
    ),
  };
}

async function runRaces(context: StepContext, stage: Stage, engine: EngineName): Promise<StepRow> {
  const here = races.filter(({ engines }) => engines?.includes(engine) ?? true);
  const failures: string[] = [];
  let passed = 0;
  let rounds = 0;
  let deadlocks = 0;
  for (const race of here) {
    if (isOver(context)) break;
    context.say(
      `${engine}, race ${String(passed + failures.length + 1)} of ${String(here.length)}: ${race.title}`,
    );
    try {
      const seen = await playRace(stage, race, { engine, rounds: roundsFor(context, here, race) });
      rounds += seen.rounds;
      deadlocks += seen.deadlocks;
      if (seen.faults.length === 0) passed += 1;
      else failures.push(`${race.title}: ${seen.faults.join("; ")}`);
    } catch (error) {
      failures.push(`${race.title}\n${describeError(error)}`);
    }
  }
  const remark = `; ${String(rounds)} rounds, ${String(deadlocks)} deadlocks where they are possible`;
  return rowOf(`races on ${engine}`, { all: here.length, passed, failures }, remark);
}

/** A round takes about a quarter of a second over a network: as many as the time left allows for each race. */
function roundsFor(context: StepContext, all: readonly RaceCase[], race: RaceCase): number {
  const left = all.length - all.indexOf(race);
  const perRaceMs = (context.endsAtMs - performance.now()) / left;
  return Math.max(1, Math.min(roundsMax, Math.floor(perRaceMs / 250)));
}
