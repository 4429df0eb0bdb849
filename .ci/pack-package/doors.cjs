// What the package is made of: the doors and the command, as the repository's package.json names them, and the programs
// that are started from a file of their own.
"use strict";
const { existsSync, readFileSync } = require("node:fs");
const { join, posix } = require("node:path");

const root = join(__dirname, "..", "..");

/** The repository's manifest. */
const readManifest = () => JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** `dist/shared/cli/main.js` is made of `shared/cli/main.ts`. */
function sourceOf(compiled) {
  const source = posix
    .normalize(compiled)
    .replace(/^dist\//, "")
    .replace(/\.js$/, ".ts");
  if (existsSync(join(root, source))) return source;
  throw new Error(`package.json names ${compiled}, but there is no ${source}`);
}

/** A path of this system with the slashes that the package and its sources are named by. */
const slashed = (path) => path.split("\\").join("/");

/** Where a source lies in the package: `shared/cli/main.ts` becomes `lib/cli/main.js`. */
const placeOf = (source) => source.replace(/^shared\//, "lib/").replace(/\.ts$/, ".js");

/** The doors, by their name in `exports`: `{ ".": "shared/index.ts", .. }`. */
function listDoors({ exports } = readManifest()) {
  return Object.fromEntries(
    Object.entries(exports)
      .filter(([, target]) => target.endsWith(".js"))
      .map(([door, target]) => [door, sourceOf(target)]),
  );
}

/** The programs that `npx` finds: `{ taskgate: "shared/cli/main.ts" }`. */
function listCommands({ bin } = readManifest()) {
  return Object.fromEntries(Object.entries(bin).map(([name, file]) => [name, sourceOf(file)]));
}

/** Threads and processes: the first file starts the second, which lies beside it. */
const programs = {
  "shared/functions/runtime.ts": "shared/functions/lease-renewer.ts",
  "shared/local/host-children.ts": "shared/local/host-process.ts",
  "shared/local/supervised-service.ts": "shared/local/supervisor.ts",
};

module.exports = { listCommands, listDoors, placeOf, programs, readManifest, root, slashed };
