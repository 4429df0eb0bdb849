import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The repository. */
export const root = join(__dirname, "../..");

/** Builds dist/ when there is none, or when a source is newer; answers the compiled entry of the functions. */
export function ensureBuilt(): string {
  const stamp = join(root, "dist/build-info.json");
  const builtMs = existsSync(stamp) ? statSync(stamp).mtimeMs : 0;
  const sources = ["functions", "shared"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((name) =>
      join(root, folder, String(name)),
    ),
  );
  const isStale = sources.some(
    (path) => /\.(ts|sql)$/.test(path) && statSync(path).mtimeMs > builtMs,
  );
  if (isStale) execFileSync("npm", ["run", "--silent", "build"], { cwd: root, stdio: "pipe" });
  return join(root, "dist/functions/index.js");
}
