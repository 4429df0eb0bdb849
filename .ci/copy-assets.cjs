// What the compiler leaves out, copied beside the compiled files: SQL, the status page; and the number of this build.
// What has no source any more is removed.
"use strict";

const {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} = require("node:fs");
const { dirname, join, relative } = require("node:path");

const root = join(__dirname, "..");
const dist = join(root, "dist");
const page = join("functions", "dashboard", "ui");

/** Every file below a folder, as paths from the root. */
function listFiles(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(root, path));
}

const assets = [...listFiles(join(root, "shared")), ...listFiles(join(root, "functions"))].filter(
  (path) => path.endsWith(".sql") || path.startsWith(page),
);
// A file that is gone here must not be found there: a migration would run, or a sample, that no source has.
for (const path of existsSync(dist) ? listFiles(dist) : []) {
  const source = relative("dist", path);
  const isAsset = path.endsWith(".sql") || source.startsWith(page);
  const compiled = source.replace(/(\.d)?\.(ts|js|js\.map)$/, ".ts");
  const isKept = isAsset ? assets.includes(source) : existsSync(join(root, compiled));
  if (!isKept && (isAsset || compiled !== source)) rmSync(join(root, path));
}
for (const path of assets) {
  const target = join(dist, path);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, path), target);
}
// Grows with every build: workers of an older one never overwrite the settings of a newer one.
writeFileSync(join(dist, "build-info.json"), `${JSON.stringify({ build: Date.now() })}\n`);
