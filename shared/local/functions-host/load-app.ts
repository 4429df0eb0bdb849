/** Loads a function app's entry files, as the Node worker on Azure does. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { glob } from "tinyglobby";
import { TaskgateError } from "../../core/errors";
import { messageOf, textAt } from "../../core/foreign-value";
import type { CoreRegistry } from "./core-api";
import { openStreams } from "./http-stream";
import { LoadFailure } from "./load-failure";

/**
 * Loads every file that `main` in `<appRoot>/package.json` matches (a path or a glob), CommonJS or
 * ES module, and closes the registration.
 *
 * Throws TaskgateError TASKGATE_APP_BROKEN if there is no such file, and LoadFailure with what a file threw. Azure would go on
 * with no functions at all and say so only in the log.
 */
export async function loadApp(appRoot: string, registry: CoreRegistry): Promise<void> {
  const manifest = join(appRoot, "package.json");
  const content = readManifest(manifest, await readFile(manifest, "utf8"));
  const main = textAt(content, "main");
  if (main === undefined) throw broken(`${manifest} has no "main", which names the functions.`);
  const files = await glob(main.replace(/^\.\//, ""), { cwd: appRoot, absolute: true });
  if (files.length === 0) {
    throw broken(`${manifest} says "main": "${main}", but there is no such file. Run the build.`);
  }
  const require = createRequire(manifest);
  for (const file of files.sort()) {
    const isModule =
      extname(file) === ".mjs" || (extname(file) === ".js" && textAt(content, "type") === "module");
    try {
      if (isModule) await import(pathToFileURL(file).href);
      else require(file);
    } catch (error) {
      throw new LoadFailure(error, { appRoot, file });
    }
  }
  if (registry.model === undefined) {
    throw broken(
      `${manifest}: "main" (${main}) registers no function with @azure/functions. A gate does with \`gate.register(app)\`, where \`app\` is that package's.`,
    );
  }
  registry.streamPort = await openStreams(registry.model);
  registry.seal();
}

function broken(message: string): TaskgateError {
  return new TaskgateError("TASKGATE_APP_BROKEN", message);
}

function readManifest(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw broken(`${path}: expected JSON (${messageOf(error)}).`);
  }
}
