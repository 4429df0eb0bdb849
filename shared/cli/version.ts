import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Folders above this file that are looked into: the package's is two (sources) or three (compiled) above. */
const levelsMax = 4;

/** The version in the package.json of this code, such as 1.2.0; 0.0.0 where none is found. */
export function readVersion(): string {
  let folder = __dirname;
  for (let level = 0; level < levelsMax; level += 1) {
    const path = join(folder, "package.json");
    if (existsSync(path)) {
      const content = JSON.parse(readFileSync(path, "utf8")) as { version?: unknown };
      return typeof content.version === "string" ? content.version : "0.0.0";
    }
    folder = dirname(folder);
  }
  return "0.0.0";
}
