import { readVersion } from "../core/own-manifest";
import { report } from "./command";
import type { Command } from "./command";

/** `taskgate version` */
export const versionCommand: Command = {
  name: "version",
  group: "develop",
  parameters: [],
  options: {},
  sentence: "Prints the version.",
  examples: [{ line: "taskgate version", sentence: "The same as `taskgate --version`." }],
  run: async (context) => {
    const version = readVersion();
    report(context, { version }, () => version);
  },
};
