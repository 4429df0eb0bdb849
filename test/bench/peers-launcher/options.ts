import { join } from "node:path";
import { parseArgs } from "node:util";
import { readNames } from "../../support/script-words";
import { scenarioNames, scenariosWithFlames } from "./scenario-names";
import type { ScenarioName } from "./scenario-names";

/** What a command line asks for. */
export interface Options {
  /** Shows that everything runs; its figures are no measurement. */
  readonly isQuick: boolean;
  readonly only: readonly ScenarioName[];
  readonly rounds: number;
  readonly json: string | null;
  readonly page: string | null;
  /** Takes what the last run has installed. */
  readonly isInstalled: boolean;
  /** Draws where Taskgate's processor time goes, instead of comparing. */
  readonly areFlames: boolean;
}

export const usage = `npm run bench:peers -- [--quick] [--only NAME[,NAME]] [--rounds N] [--json FILE] [--page FILE] [--installed]
npm run bench:peers -- --flames [--only NAME[,NAME] --page FILE] [--installed]

  --quick      few tasks, one round: shows that everything runs
  --only       some scenarios: ${scenarioNames.join(", ")}
  --rounds     how often each is measured, in turn; default 5
  --json       writes all figures
  --page       writes the page of results; default docs/benchmarks/peers.md after a full run
  --installed  takes the packages of the last run instead of packing and installing anew
  --flames     runs Taskgate alone and draws where its time goes, in docs/benchmarks/flames.md: the scenarios with a goal of speed
`;

/** `pages`: the folder of the pages that full runs write. Throws an Error that names the option, what it got and what it takes. */
export function parseOptions(words: readonly string[], pages: string): Options {
  const { values } = parseArgs({
    args: [...words],
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      rounds: { type: "string" },
      json: { type: "string" },
      page: { type: "string" },
      installed: { type: "boolean", default: false },
      flames: { type: "boolean", default: false },
    },
  });
  const isQuick = values.quick;
  const areFlames = values.flames;
  const all = areFlames ? scenariosWithFlames : scenarioNames;
  const only =
    values.only === undefined
      ? all
      : readNames(values.only, { option: "--only", what: "scenarios", names: scenarioNames });
  const isFull = !isQuick && values.only === undefined;
  const page = values.page ?? (isFull ? join(pages, areFlames ? "flames.md" : "peers.md") : null);
  if (areFlames && page === null)
    throw new Error("--page: expected a file for the pictures of some scenarios, got none");
  return {
    isQuick,
    only,
    rounds: readRounds(values.rounds ?? (isQuick ? "1" : "5")),
    json: values.json ?? null,
    page,
    isInstalled: values.installed,
    areFlames,
  };
}

function readRounds(text: string): number {
  const rounds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (rounds >= 1) return rounds;
  throw new Error(`--rounds: expected a whole number in 1..99, got \`${text}\``);
}
