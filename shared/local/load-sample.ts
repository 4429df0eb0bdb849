import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { readSamplePath } from "./local-app";
import type { LocalApp } from "./local-app";
import type { LocalSample } from "./sample";

/**
 * The sample belongs to the app; package.json says where it is. Null when it names none: an app needs no sample. Throws an
 * Error with a sentence for people when it names one that isn't there.
 */
export function loadSample({
  root,
  samplePath,
}: Pick<LocalApp, "root" | "samplePath">): LocalSample | null {
  if (samplePath === null) return null;
  if (!existsSync(join(root, samplePath))) {
    throw new Error(
      `${samplePath} is missing. Run \`npm start\`, which builds the app; an app without a sample has no "taskgate": { "sample": .. } in its package.json.`,
    );
  }
  const load = createRequire(join(root, "package.json"));
  const loaded = load(join(root, samplePath)) as { sample?: LocalSample };
  if (loaded.sample === undefined) throw new Error(`${samplePath} exports no \`sample\`.`);
  return loaded.sample;
}

/** In the repository, the app that this file was compiled with: it lies in dist/shared/local. */
const compiledWith = resolve(__dirname, "..", "..", "..");

/** The sample of the app that this code was compiled with, or of the app in `folder`. Throws where neither has one. */
export function requireSample(folder: string): LocalSample {
  for (const root of [compiledWith, folder]) {
    const sample = loadSample({ root, samplePath: readSamplePath(root) });
    if (sample !== null) return sample;
  }
  throw new Error(
    'This app has no sample: its package.json has no "taskgate": { "sample": .. }. Leave the option out.',
  );
}
