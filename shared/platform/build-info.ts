import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SettingsError } from "../core/errors";

/** Where the build leaves its number: dist/build-info.json, two folders above this compiled file. */
const defaultPath = join(__dirname, "..", "..", "build-info.json");

/**
 * The build of the running code: `settings.build` where it is set, else what `{ "build": number }` in build-info.json
 * says, or 0 where there is no such file (code that runs without a build). Throws SettingsError when the file holds
 * something else.
 */
export function resolveBuild(
  settings: { readonly build: number | null } = { build: null },
  path = defaultPath,
): number {
  if (settings.build !== null) return settings.build;
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return 0;
    throw error;
  }
  const build = readBuild(text);
  if (build === null) {
    throw new SettingsError([
      `build-info.json: expected { "build": whole number from 0 }, got \`${text.slice(0, 100)}\`. Run \`npm run build\` again`,
    ]);
  }
  return build;
}

function readBuild(text: string): number | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || !("build" in value)) return null;
    const { build } = value;
    return typeof build === "number" && Number.isSafeInteger(build) && build >= 0 ? build : null;
  } catch {
    return null;
  }
}
