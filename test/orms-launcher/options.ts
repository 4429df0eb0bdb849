import { parseArgs } from "node:util";
import { readNames } from "../support/script-words";
import type { SystemName } from "./protocol";
import { systemNames } from "./system-names";

/** What a command line asks for. */
export interface Options {
  readonly only: readonly SystemName[];
  /** Takes what the last run has installed. */
  readonly isInstalled: boolean;
}

export const usage = `npm run test:orms -- [--only NAME[,NAME]] [--installed]

  --only       some packages: ${systemNames.join(", ")}
  --installed  takes the packages of the last run instead of packing and installing anew
`;

/** Throws an Error that names the option, what it got and what it takes. */
export function parseOptions(words: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...words],
    options: {
      only: { type: "string" },
      installed: { type: "boolean", default: false },
    },
  });
  return {
    only:
      values.only === undefined
        ? systemNames
        : readNames(values.only, { option: "--only", what: "packages", names: systemNames }),
    isInstalled: values.installed,
  };
}
