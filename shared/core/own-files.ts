import { existsSync } from "node:fs";
import { join } from "node:path";

/** SQL, pages and threads lie beside the code of the package; this folder stands for them. */
const folder = join(
  // A bundle that is a module has no such name.
  typeof __dirname === "string" ? __dirname : "",
  "../store/postgres/sql",
);

/**
 * Throws an Error with the way out where the files of the package aren't beside its code: a bundler put the code into a file of
 * the app, and left them behind.
 */
export function requireOwnFiles(): void {
  if (existsSync(folder)) return;
  throw new Error(
    `Taskgate's files aren't beside its code (${folder}): the code was bundled with the app's. Leave the package out of the bundle (esbuild: --external:taskgate, webpack: externals: { taskgate: "commonjs taskgate", "taskgate/functions": "commonjs taskgate/functions" }, rollup: external: [/^taskgate/]), and deploy node_modules/taskgate.`,
  );
}
