import { readVersion } from "../core/own-manifest";
import { report } from "./command";
import type { Command } from "./command";
import { exitCodes } from "./exit-codes";

/** `taskgate version` */
export const versionCommand: Command = {
  name: "version",
  group: "develop",
  parameters: [],
  options: {},
  sentence: "Prints the version.",
  examples: [{ line: "taskgate version", sentence: "The same as `taskgate --version`." }],
  run: (context) => {
    const version = readVersion();
    report(context, { version }, () => version);
    return Promise.resolve(exitCodes.ok);
  },
};
