import { spawnSync } from "node:child_process";

/** The machine has the program: `npm test` itself needs nothing but Node. */
export function hasProgram(name: string): boolean {
  return spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined;
}
