import { newSeed } from "../support/builders";
import { readWords } from "../support/script-words";
import { sqlPlants } from "./planted-sql";
import { storePlants } from "./planted-store";

const usage = `npm run chaos -- [--minutes N] [--seed S] [--hosts N] [--without GROUPS] [--report FILE] [--plant NAME|all]

Real worker hosts over a PostgreSQL of the run's own, and everything that goes wrong with them; an outside ledger tells
whether the design's promises held (docs/internals/chaos.md). Ends with 1 when one was broken; with --plant, when a planted
fault wasn't found within a minute.`;

/** Groups of troubles that may be left out. */
export const troubleGroups = [
  "hosts",
  "network",
  "clock",
  "limits",
  "database",
  "disk",
  "deploy",
] as const;
export type TroubleGroup = (typeof troubleGroups)[number];

export const plants: readonly string[] = [...storePlants, ...sqlPlants];

/** What a run is to be. */
export interface ChaosOptions {
  /** How long there is trouble; the end needs some more. */
  readonly minutes: number;
  readonly seed: number;
  readonly hosts: number;
  readonly without: readonly TroubleGroup[];
}

/** A run, or one per plant, and where the report goes. */
export interface ChaosOrder extends ChaosOptions {
  readonly plants: readonly string[];
  readonly report: string | null;
}

/** Throws an Error that names the option, its value and the expected form. */
export function readOptions(): ChaosOrder {
  const { values } = readWords(usage, {
    options: {
      minutes: { type: "string", default: "5" },
      seed: { type: "string" },
      hosts: { type: "string", default: "4" },
      without: { type: "string", default: "" },
      plant: { type: "string" },
      report: { type: "string" },
    },
  });
  const { plant, without } = values;
  return {
    minutes: numberOf("minutes", values.minutes, { least: 0.1, max: 1_440 }),
    seed:
      values.seed === undefined
        ? newSeed()
        : wholeOf("seed", values.seed, { least: 0, max: 2 ** 32 }),
    hosts: wholeOf("hosts", values.hosts, { least: 2, max: 16 }),
    without:
      without === "" ? [] : without.split(",").map((word) => oneOf("without", word, troubleGroups)),
    plants: plant === undefined ? [] : plant === "all" ? plants : [oneOf("plant", plant, plants)],
    report: values.report ?? null,
  };
}

interface Range {
  readonly least: number;
  readonly max: number;
}

function numberOf(name: string, text: string, { least, max }: Range): number {
  const value = Number(text);
  if (text !== "" && value >= least && value <= max) return value;
  throw new Error(`Expected --${name} to be ${String(least)} to ${String(max)}, got ${text}`);
}

function wholeOf(name: string, text: string, range: Range): number {
  const value = numberOf(name, text, range);
  if (Number.isInteger(value)) return value;
  throw new Error(`Expected --${name} to be a whole number, got ${text}`);
}

function oneOf<Word extends string>(name: string, word: string, known: readonly Word[]): Word {
  const found = known.find((candidate) => candidate === word);
  if (found !== undefined) return found;
  throw new Error(`Expected --${name} to be one of ${known.join(", ")}, got ${word}`);
}
