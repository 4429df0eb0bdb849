import type { CollectedAnswer } from "../../tsql-server/engine/answer";
import type { Work } from "../../tsql-server/engine/requests";
import type { Run } from "../../tsql-server/schedule/run";
import { parseScript } from "../../tsql-server/syntax/parser";
import type { Call } from "./calls";
import { textOf } from "./calls";
import type { Caller, CallerStep, CaseAnswer, ModelCase } from "./model-case";
import { plainRow } from "./table-rows";

/** A request as the engine takes it: read and bound once per text. */
export function requestOf(call: Call): Work {
  const text = textOf(call);
  const [batch] = parseScript(text, "caller");
  return { kind: "file", fileName: "caller", statements: batch?.statements ?? [] };
}

export function caseAnswer(call: Call, answer: CollectedAnswer): CaseAnswer {
  const last = answer.rowSets.length - 1;
  return {
    call,
    rows: answer.objects(last).map(plainRow),
    errors: answer.errors.map((error) => error.number),
  };
}

/** Answers of a caller with the calls that they answer. */
export function answersOf(caller: Caller, answers: readonly CollectedAnswer[]): CaseAnswer[] {
  const known: CaseAnswer[] = [];
  for (const [place, answer] of answers.entries()) {
    const step = caller[place];
    if (step === undefined) break; // the rollback of an open transaction
    known.push(caseAnswer(callOf(step, known), answer));
  }
  return known;
}

/** All answers of a run so far, by caller. */
export function answersOfRun(model: ModelCase, run: Run): CaseAnswer[][] {
  return model.callers.map((caller, place) => answersOf(caller, run.callers[place]?.answers ?? []));
}

/** What a caller does next; undefined: no more. */
export function nextCall(caller: Caller, answers: readonly CollectedAnswer[]): Call | undefined {
  const step = caller[answers.length];
  return step === undefined ? undefined : callOf(step, answersOf(caller, answers));
}

function callOf(step: CallerStep, answers: readonly CaseAnswer[]): Call {
  return step.kind === "dependent" ? step.make(answers) : step;
}
