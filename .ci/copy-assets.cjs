// What the compiler leaves out, copied beside the compiled files: SQL, the dashboard; and the number of this build.
// What has no source any more is removed.
//   node .ci/copy-assets.cjs [folder, default dist]
"use strict";

const {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} = require("node:fs");
const { basename, dirname, join, relative, resolve } = require("node:path");

const root = join(__dirname, "..");
const dist = resolve(root, process.argv[2] ?? "dist");
const page = join("shared", "functions", "dashboard", "ui");

// `functions/` imports the package by its name, which Node looks up in the nearest package.json.
const { name: packageName } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
if (packageName !== "taskgate") {
  process.stderr.write(
    `package.json: expected "name": "taskgate" (${packageName}), because functions/ imports "taskgate", which lies in shared/\n`,
  );
  process.exit(1);
}

/** Every file below a folder, as paths from another one. */
function listFiles(folder, from) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile())
    .map((path) => relative(from, path));
}

/** SQL, the order in which it runs, the page. */
const isAsset = (path) =>
  path.endsWith(".sql") || basename(path) === "order.txt" || path.startsWith(page);
const assets = ["shared", "functions"]
  .flatMap((folder) => listFiles(join(root, folder), root))
  .filter(isAsset);
// A file that is gone here must not be found there: a migration would run, or a sample, that no source has.
// The package is a build of its own, which begins with an empty folder.
for (const path of existsSync(dist) ? listFiles(dist, dist) : []) {
  if (path.startsWith(join("package", "/"))) continue;
  const compiled = path.replace(/(\.d)?\.(ts|js|js\.map)$/, ".ts");
  const isKept = isAsset(path) ? assets.includes(path) : existsSync(join(root, compiled));
  if (!isKept && (isAsset(path) || compiled !== path)) rmSync(join(dist, path));
}
for (const path of assets) {
  const target = join(dist, path);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, path), target);
}
// Grows with every build: workers of an older one never overwrite the settings of a newer one.
writeFileSync(join(dist, "build-info.json"), `${JSON.stringify({ build: Date.now() })}\n`);
