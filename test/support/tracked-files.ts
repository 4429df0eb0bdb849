import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

/** Copies the files that git tracks, as they are now, and answers how many. `isWanted` may leave some out. */
export function copyTrackedFiles(
  from: string,
  to: string,
  isWanted: (path: string) => boolean = () => true,
): number {
  const listed = execFileSync("git", ["ls-files", "-z"], { cwd: from, encoding: "utf8" });
  const paths = listed
    .split("\0")
    .filter((path) => path !== "" && isWanted(path) && existsSync(join(from, path)));
  for (const path of paths) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(from, path), join(to, path));
  }
  return paths.length;
}
