import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { HostChild } from "../../shared/local/host-children";
import type * as HostChildren from "../../shared/local/host-children";

/** The repository. */
export const root = join(__dirname, "../..");

/** `NODE_OPTIONS` that add the tests' own kinds of task and routes to those of the app, which may be any. */
export const moreTasks = `-r ${join(__dirname, "fixtures/more-tasks.cjs")}`;

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

/** The app in a local Functions host of its own process; nothing of the test's environment but the path reaches it. */
export function startApp(
  env: Readonly<Record<string, string | undefined>>,
  onLine: (line: string) => void,
  runsTimers = false,
): Promise<HostChild> {
  ensureBuilt();
  const load = createRequire(__filename);
  const path = join(root, "dist/shared/local/host-children.js");
  const { startHostChild } = load(path) as typeof HostChildren;
  const { PATH, HOME } = process.env;
  const settings = { appRoot: root, port: 0, env: { PATH, HOME, ...env }, runsTimers };
  return startHostChild(settings, onLine);
}
