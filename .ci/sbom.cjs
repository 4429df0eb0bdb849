// Prints the bill of materials of what is deployed, as CycloneDX, made by npm from the lock file.
//   npm run --silent sbom
// In a copy of the lock file without development packages: with `--omit dev` npm 11 leaves out more than half of the
// others, too (107 of 238; test/static/supply-chain.test.ts counts them).
"use strict";

const { execFileSync } = require("node:child_process");
const { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { tmpdir } = require("node:os");
const { join } = require("node:path");

const root = join(__dirname, "..");
const read = (name) => JSON.parse(readFileSync(join(root, name), "utf8"));

function main() {
  const manifest = read("package.json");
  const lock = read("package-lock.json");
  const top = lock.packages[""];
  for (const from of [manifest, top]) {
    delete from.devDependencies;
    delete from.workspaces;
  }
  const deployed = Object.entries(lock.packages).filter(
    ([path, entry]) =>
      path.startsWith("node_modules/") && !entry.link && !entry.dev && !entry.devOptional,
  );
  const packages = { "": top, ...Object.fromEntries(deployed) };
  const temp = mkdtempSync(join(tmpdir(), "taskgate-sbom-"));
  // npm names the whole after its folder.
  const folder = join(temp, manifest.name);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ ...lock, packages }));
    const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx"];
    // npm is a script on Windows, and scripts need a shell there. No argument here comes from outside.
    execFileSync("npm", args, {
      cwd: folder,
      stdio: "inherit",
      shell: process.platform === "win32",
    });
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

main();
