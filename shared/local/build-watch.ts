import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { sleep } from "../platform/real-clock";
import { builtFolder } from "./local-app";
import type { LocalApp } from "./local-app";

/** Between two looks. */
const lookEveryMs = 400;
/** A larger app is looked at less often: a look takes at most a tenth of the time. */
const lookShare = 10;
const filesMax = 20_000;
const watched = /\.(?:js|cjs|mjs)$/;
/** Files beside the build that decide how the workers run. */
const settingFiles = ["host.json", "local.settings.json", "package.json"];

/**
 * Tells when the app was built anew, or its settings changed. It looks at names, sizes and times of the compiled files: a
 * folder that a build removes and makes again is no obstacle, nor is a file system without notifications. `onChange` is called
 * when the files have changed and then stayed the same for one look; the next look waits for it. The returned function ends the
 * watch and waits for a call of `onChange` that runs.
 */
export async function watchBuild(
  app: LocalApp,
  onChange: () => Promise<void>,
): Promise<() => Promise<void>> {
  const stopping = new AbortController();
  const { signal } = stopping;
  let known = await lookAt(app);
  const watching = (async () => {
    let previous = known;
    let lookMs = 0;
    for (;;) {
      await sleep(Math.max(lookEveryMs, lookMs * lookShare), signal);
      if (signal.aborted) return;
      const startedAtMs = performance.now();
      const current = await lookAt(app);
      lookMs = performance.now() - startedAtMs;
      const isStill = current === previous;
      previous = current;
      if (!isStill || current === known || current === "") continue;
      known = current;
      await onChange();
    }
  })();
  return async () => {
    stopping.abort();
    await watching;
  };
}

/** The state of the files in one text; empty while there are no compiled files, as in the middle of a build. */
async function lookAt(app: LocalApp): Promise<string> {
  const folder = builtFolder(app);
  const files = await listCompiled(join(app.root, folder ?? ""), folder === null);
  if (files.length === 0) return "";
  const settings = settingFiles.map((name) => join(app.root, name));
  const states = await Promise.all([...files.sort(), ...settings].map(stateOf));
  return states.join("\n");
}

async function stateOf(path: string): Promise<string> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${path} ${size} ${mtimeMs}`;
  } catch {
    return `${path} absent`;
  }
}

/** Compiled files below a folder, at most 20,000. Installed packages and hidden folders are left out. */
async function listCompiled(top: string, isAppItself: boolean): Promise<string[]> {
  const found: string[] = [];
  const folders = [top];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        const isForeign = entry.name === "node_modules" || (isAppItself && /^\./.test(entry.name));
        if (!isForeign) folders.push(path);
      } else if (watched.test(entry.name) && found.length < filesMax) found.push(path);
    }
  }
  return found;
}
