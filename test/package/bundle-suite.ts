import { writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import commonjs from "@rollup/plugin-commonjs";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import { rollup } from "rollup";
import { run } from "./packed";

/** What a bundler's users write above a module, so that what is left to `require` is found. */
const banner =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** A program that adds a task, in one file with the package. */
async function bundleProgram(folder: string, format: "cjs" | "es"): Promise<string> {
  const input = join(folder, "enqueue.cjs");
  const file = join(folder, `bundled.${format === "es" ? "mjs" : "cjs"}`);
  writeFileSync(
    input,
    `const { createClient, taskRef } = require("taskgate");
     const client = createClient({ store: "postgres://u:p@localhost:1/jobs" });
     client.enqueue(taskRef({ name: "greet" }), {}).catch((error) => console.log(error.message));`,
  );
  const bundle = await rollup({
    input,
    external: builtinModules.flatMap((name) => [name, `node:${name}`]),
    plugins: [nodeResolve({ exportConditions: ["node"], preferBuiltins: true }), commonjs()],
    onwarn: () => undefined,
  });
  await bundle.write({ file, format, ...(format === "es" ? { banner } : {}) });
  await bundle.close();
  return file;
}

/** Goal: a bundler that puts the package into the app's file leaves SQL and threads behind: the first call tells the way out. */
export function describeBundle(folderOf: () => string): void {
  describe("the package in an app's bundle", () => {
    test.each(["cjs", "es"] as const)(
      "the package says how a bundle leaves it out, as %s",
      async (format) => {
        const file = await bundleProgram(folderOf(), format);
        expect(await run(process.execPath, [file], { cwd: folderOf() })).toContain(
          "Leave the package out of the bundle (esbuild: --external:taskgate",
        );
      },
    );
  });
}
