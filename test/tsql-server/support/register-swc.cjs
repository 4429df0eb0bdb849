// Lets a child process of a test run the TypeScript sources without a build:
//   node -r ./support/register-swc.cjs program.ts
// What was compiled is kept: tests start some hundred processes, and the compiler takes longer to load than most of them to run.
"use strict";

const { createHash } = require("node:crypto");
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs");
const { dirname, join } = require("node:path");

const options = {
  jsc: { target: "es2023", parser: { syntax: "typescript" } },
  // import() stays what it is: the host loads ES modules with it.
  module: { type: "commonjs", ignoreDynamic: true },
  sourceMaps: "inline",
};
const compilerManifest = require.resolve("@swc/core/package.json");
const folder = join(dirname(compilerManifest), "..", "..", ".cache", "taskgate-swc");
const base = `${readFileSync(compilerManifest, "utf8")}${JSON.stringify(options)}`;
mkdirSync(folder, { recursive: true });

require.extensions[".ts"] = (module, filename) => {
  const source = readFileSync(filename, "utf8");
  const key = createHash("sha256").update(base).update(`\n${filename}\n`).update(source);
  const kept = join(folder, `${key.digest("hex")}.js`);
  module._compile(readIfThere(kept) ?? compile({ filename, source, kept }), filename);
};

function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Another process may do the same at this moment: each file appears whole. */
function compile({ filename, source, kept }) {
  const { code } = require("@swc/core").transformSync(source, { filename, ...options });
  const written = `${kept}.${process.pid}`;
  writeFileSync(written, code);
  renameSync(written, kept);
  return code;
}
