/** Loads a function app's entry files, as the Node worker on Azure does. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { glob } from "tinyglobby";
import type { CoreRegistry } from "./core-api";
import { openStreams } from "./http-stream";

/**
 * Loads every file that `main` in `<appRoot>/package.json` matches (a path or a glob), CommonJS or
 * ES module, and closes the registration.
 *
 * Errors: an Error if there is no such file, or what the file threw. Azure would go on with no
 * functions at all and say so only in the log. `onFile` is told of each file before it is loaded, and of
 * null behind the last one.
 */
export async function loadApp(
  appRoot: string,
  registry: CoreRegistry,
  onFile?: (file: string | null) => void,
): Promise<void> {
  const manifest = join(appRoot, "package.json");
  const content: unknown = JSON.parse(await readFile(manifest, "utf8"));
  const main = memberOf(content, "main");
  if (main === undefined) throw new Error(`${manifest} has no "main", which names the functions.`);
  const files = await glob(main.replace(/^\.\//, ""), { cwd: appRoot, absolute: true });
  if (files.length === 0) {
    throw new Error(
      `${manifest} says "main": "${main}", but there is no such file. Run the build.`,
    );
  }
  const require = createRequire(manifest);
  for (const file of files.sort()) {
    onFile?.(file);
    const isModule =
      extname(file) === ".mjs" ||
      (extname(file) === ".js" && memberOf(content, "type") === "module");
    if (isModule) await import(pathToFileURL(file).href);
    else require(file);
  }
  onFile?.(null);
  if (registry.model === undefined) {
    throw new Error(
      `${manifest}: "main" (${main}) registers no function with @azure/functions. A gate does with \`gate.register(app)\`, where \`app\` is that package's.`,
    );
  }
  registry.streamPort = await openStreams(registry.model);
  registry.seal();
}

function memberOf(content: unknown, name: string): string | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  const value: unknown = Object.entries(content).find(([key]) => key === name)?.[1];
  return typeof value === "string" ? value : undefined;
}
