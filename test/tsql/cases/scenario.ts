import { shippedWorld } from "../shipped/shipped-world";
import type { World } from "../../tsql-server/engine/world";
import type { Scenario } from "../../tsql-server/schedule/run";
import { runAlone } from "../../tsql-server/schedule/step";
import { textOf } from "./calls";
import type { CaseAnswer, CaseOptions, ModelCase } from "./model-case";
import { brokenAtEnd, brokenByStep } from "./promises";
import { caseAnswer, nextCall, requestOf } from "./requests";
import { taskgateTable } from "./table-rows";

/** A case as the searches run it: its setup is done once, each run begins with a copy. */
export function scenarioOf(model: ModelCase, how: CaseOptions): Scenario {
  const prepared = prepareWorld(model, how);
  return {
    world: () => prepared.world.fork(),
    callers: model.callers.map((caller, place) => ({
      name: `caller ${String(place + 1)}`,
      next: (answers) => {
        const call = nextCall(caller, answers);
        return call === undefined ? undefined : requestOf(call);
      },
    })),
    afterStep: (run, report) => brokenByStep({ model, how, run }, report),
    atEnd: (run) => brokenAtEnd({ model, how, run, setup: prepared.answers }),
    ...(model.mayTimeOut === true ? { mayTimeOut: true } : {}),
    ...(model.cut === undefined ? {} : { cuttable: model.cut }),
  };
}

/** The world of a case before its callers begin, and what the setup was answered. */
export function prepareWorld(
  model: Pick<ModelCase, "name" | "setup">,
  how: CaseOptions,
): { world: World; answers: CaseAnswer[] } {
  const world = shippedWorld(how.options, how.edit);
  const connection = world.connect();
  const answers: CaseAnswer[] = [];
  for (const step of model.setup) {
    if (step.kind === "later") {
      world.clock += step.ms;
      continue;
    }
    const answer = caseAnswer(step, runAlone(connection, requestOf(step)));
    if (answer.errors.length > 0) {
      throw new Error(
        `${model.name}: error ${answer.errors.join(", ")} in the setup: ${textOf(step)}`,
      );
    }
    answers.push(answer);
  }
  world.forget(connection);
  // A thousand rows that searches needn't copy for every run.
  taskgateTable(world, "Number").isConstant = true;
  return { world, answers };
}
