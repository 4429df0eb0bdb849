import { describeFinding } from "../cases/explore-case";
import { allCases } from "../cases/list/all";
import { cutCases } from "../cases/list/kills";
import type { ModelCase } from "../cases/model-case";
import { scenarioOf } from "../cases/scenario";
import { engineNames, findVariant } from "../cases/variants";
import type { Variant } from "../cases/variants";
import { isWordError } from "../cases/words";
import { replay } from "../../tsql-server/schedule/replay";
import { parseSchedule, Run } from "../../tsql-server/schedule/run";
import type { Choice } from "../../tsql-server/schedule/run";
import { play } from "./play";
import { paintFor, printPlayed } from "./print";
import { stories } from "./stories";
import type { Story } from "./stories";
import { readWords } from "../../support/script-words";

const usage = `npm run locks -- NAME [--engine locking|versioned|azure] [--schedule "1 1 2"] [--variant NAME] [--json]

A source text's story (text-000 .. text-003), or one order of a shipped case's steps, as a trace of locks.`;

function main(): number {
  const { values, positionals } = readWords(usage, {
    allowPositionals: true,
    options: {
      engine: { type: "string", default: "locking" },
      schedule: { type: "string", default: "" },
      variant: { type: "string" },
      json: { type: "boolean", default: false },
    },
  });
  const [name = ""] = positionals;
  const engine = engineNames.find((one) => one === values.engine);
  if (engine === undefined)
    return refuse(`--engine: expected ${engineNames.join(", ")}, found ${values.engine}`);
  const story = stories.find((one) => one.name === name);
  if (story !== undefined) {
    tellStory(story, engine, values.json);
    return 0;
  }
  const model = [...allCases, ...cutCases].find((one) => one.name === name);
  const variant = findVariant(values.variant ?? engine);
  if (variant === undefined)
    return refuse(`--variant: there is none of the name ${values.variant ?? ""}`);
  if (model === undefined)
    return refuse(`expected one of\n${namesOfAll().join("\n")}\nfound ${name || "nothing"}`);
  tellCase(model, variant, values);
  return 0;
}

function refuse(problem: string): number {
  console.error(problem);
  return 2;
}

function namesOfAll(): string[] {
  return [...stories, ...allCases, ...cutCases].map(({ name }) => `  ${name}`);
}

function tellStory(story: Story, engine: (typeof engineNames)[number], isJson: boolean): void {
  const played = story.scenes.map((scene) => ({ title: scene.title, played: play(scene, engine) }));
  if (isJson) {
    const scenes = played.map(({ title, played: { events } }) => ({ title, events }));
    console.log(
      JSON.stringify({ story: story.name, question: story.question, engine, scenes }, null, 2),
    );
    return;
  }
  const paint = paintFor(process.stdout.isTTY);
  console.log(paint.title(`${story.question} (engine ${engine})`));
  for (const { title, played: scene } of played) {
    console.log(["", paint.title(`# ${title}`), ...printPlayed(scene, paint)].join("\n"));
  }
}

function tellCase(
  model: ModelCase,
  variant: Variant,
  values: { schedule: string; json: boolean },
): void {
  const scenario = scenarioOf(model, variant);
  const schedule =
    values.schedule === "" ? inTurns(new Run(scenario)) : parseSchedule(values.schedule);
  const finding = replay(scenario, schedule);
  if (values.json)
    console.log(JSON.stringify({ case: model.name, variant: variant.name, ...finding }, null, 2));
  else console.log([model.about, describeFinding(model, variant, finding)].join("\n"));
}

/** One step of each caller after the other. */
function inTurns(run: Run): Choice[] {
  let last = -1;
  for (let choices = run.choices(); choices.length > 0; choices = run.choices()) {
    const steps = choices.filter(({ action }) => action === "step");
    const next = steps.find(({ caller }) => caller > last) ?? steps[0];
    if (next === undefined) break;
    run.take(next);
    last = next.caller;
  }
  return run.schedule;
}

try {
  process.exitCode = main();
} catch (error) {
  if (!isWordError(error)) throw error;
  process.exitCode = refuse(error.message);
}
