import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import type { LocalSample } from "./sample";

/** The folder with package.json; this file is compiled to dist/shared/local. */
export const appRoot = resolve(__dirname, "..", "..", "..");

/**
 * The sample belongs to the app; package.json says where it is. Null when it names none: an app needs no sample. Throws an
 * Error with a sentence for people when it names one that isn't there.
 */
export function loadSample(): LocalSample | null {
  const manifest: unknown = JSON.parse(readFileSync(join(appRoot, "package.json"), "utf8"));
  const path = sampleOf(manifest);
  if (path === null) return null;
  if (!existsSync(join(appRoot, path))) {
    throw new Error(
      `${path} is missing. Run \`npm start\`, which builds the app; an app without a sample has no "taskgate": { "sample": .. } in its package.json.`,
    );
  }
  const loaded = createRequire(__filename)(join(appRoot, path)) as { sample?: LocalSample };
  if (loaded.sample === undefined) throw new Error(`${path} exports no \`sample\`.`);
  return loaded.sample;
}

/** The sample, for what can't do without one. */
export function requireSample(): LocalSample {
  const sample = loadSample();
  if (sample !== null) return sample;
  throw new Error(
    'This app has no sample: its package.json has no "taskgate": { "sample": .. }. Leave the option out.',
  );
}

function sampleOf(manifest: unknown): string | null {
  if (typeof manifest !== "object" || manifest === null || !("taskgate" in manifest)) return null;
  const { taskgate } = manifest;
  if (typeof taskgate !== "object" || taskgate === null || !("sample" in taskgate)) return null;
  return typeof taskgate.sample === "string" ? taskgate.sample : null;
}
