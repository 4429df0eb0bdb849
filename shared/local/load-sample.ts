import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { LocalSample } from "./sample";

/** The folder with package.json; this file is compiled to dist/shared/local. */
export const appRoot = resolve(__dirname, "..", "..", "..");

/**
 * The sample belongs to the app; package.json says where it is. Throws an Error with a sentence for people when it
 * names none, or one that isn't built.
 */
export function loadSample(): LocalSample {
  const manifest: unknown = JSON.parse(readFileSync(join(appRoot, "package.json"), "utf8"));
  const path = sampleOf(manifest);
  if (path === null) {
    throw new Error(
      'package.json has no "taskgate": { "sample": .. }, which names the sample of `npm start`.',
    );
  }
  if (!existsSync(join(appRoot, path))) {
    throw new Error(
      `${path} is missing: the app is not built. Run \`npm run build\`, or \`npm start\`, which builds.`,
    );
  }
  const loaded = createRequire(__filename)(join(appRoot, path)) as { sample?: LocalSample };
  if (loaded.sample === undefined) throw new Error(`${path} exports no \`sample\`.`);
  return loaded.sample;
}

function sampleOf(manifest: unknown): string | null {
  if (typeof manifest !== "object" || manifest === null || !("taskgate" in manifest)) return null;
  const { taskgate } = manifest;
  if (typeof taskgate !== "object" || taskgate === null || !("sample" in taskgate)) return null;
  return typeof taskgate.sample === "string" ? taskgate.sample : null;
}
