import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { SettingsError } from "../core/errors";
import { jsonMembers } from "../core/json-members";

/** Where the build leaves its number: dist/build-info.json, two folders above this compiled file. */
const defaultPath = join(__dirname, "..", "..", "build-info.json");

/** What `taskgate stamp` writes into the folder of an app on the package, in which the host starts the app's process. */
export const stampName = "taskgate-build.json";

/**
 * The build of the running code: `settings.build` where it is set, else what `{ "build": number }` in build-info.json says, else
 * in taskgate-build.json, or 0 where there is neither. Throws SettingsError when the file holds something else.
 *
 * Azure has no number that grows with each deployment: WEBSITE_DEPLOYMENT_ID is the id of the slot. The times of the app's files
 * are those of the build only where the way of deployment keeps them.
 */
export function resolveBuild(
  settings: { readonly build: number | null } = { build: null },
  paths: readonly string[] = [defaultPath, join(process.cwd(), stampName)],
): number {
  if (settings.build !== null) return settings.build;
  for (const path of paths) {
    const build = buildIn(path);
    if (build !== null) return build;
  }
  return 0;
}

/** null: there is no such file. */
function buildIn(path: string): number | null {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const build = readBuild(text);
  if (build !== null) return build;
  const again = basename(path) === stampName ? "npx taskgate stamp" : "npm run build";
  throw new SettingsError([
    `${basename(path)}: expected { "build": whole number from 0 }, got \`${text.slice(0, 100)}\`. Run \`${again}\` again`,
  ]);
}

function readBuild(text: string): number | null {
  const { build } = jsonMembers(text);
  return typeof build === "number" && Number.isSafeInteger(build) && build >= 0 ? build : null;
}
