// Writes the package that apps install, as a folder that `npm pack` or `npm publish` takes (docs/internals/package.md).
//   node .ci/pack-package/pack-package.cjs [folder, default dist/package]
"use strict";
const { mkdirSync, rmSync, writeFileSync } = require("node:fs");
const { join, resolve } = require("node:path");
const { writeDeclarations } = require("./declarations.cjs");
const { root } = require("./doors.cjs");
const { writeAssets, writeLicences, writeSample } = require("./files.cjs");
const { writeJavaScript } = require("./javascript.cjs");
const { createManifest } = require("./manifest.cjs");

async function main() {
  const folder = resolve(root, process.argv[2] ?? join("dist", "package"));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = createManifest();
  const { packages } = await writeJavaScript(folder, manifest);
  await writeDeclarations(folder);
  writeAssets(folder, manifest);
  writeSample(folder);
  writeLicences(folder, packages);
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

void main().catch((error) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
