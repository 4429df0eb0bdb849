// What the compiler leaves out, copied beside the compiled files: SQL, the status page; and the number of this build.
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
const { basename, dirname, join, relative } = require("node:path");

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

/** SQL, and the order in which it runs. */
const isSql = (path) => path.endsWith(".sql") || basename(path) === "order.txt";
const assets = [...listFiles(join(root, "shared")), ...listFiles(join(root, "functions"))].filter(
  (path) => isSql(path) || path.startsWith(page),
);
// A file that is gone here must not be found there: a migration would run that no source has.
for (const path of existsSync(dist) ? listFiles(dist) : []) {
  const source = relative("dist", path);
  if ((isSql(path) || source.startsWith(page)) && !assets.includes(source))
    rmSync(join(root, path));
}
for (const path of assets) {
  const target = join(dist, path);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, path), target);
}
// Grows with every build: workers of an older one never overwrite the settings of a newer one.
writeFileSync(join(dist, "build-info.json"), `${JSON.stringify({ build: Date.now() })}\n`);
