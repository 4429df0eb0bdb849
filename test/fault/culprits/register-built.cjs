// Runs a test's program with the compiled product: its own TypeScript is compiled here, what it imports of the product is
// dist/, as in production; processes that end often start in a third of a second then.
"use strict";

require("../../support/register-swc.cjs");
const Module = require("node:module");
const { join, sep } = require("node:path");

const root = join(__dirname, "../../..");
const resolve = Module._resolveFilename;

Module._resolveFilename = function (...request) {
  const path = resolve.apply(this, request);
  const isSource = ["functions", "shared"].some((folder) =>
    path.startsWith(join(root, folder) + sep),
  );
  return isSource ? join(root, "dist", path.slice(root.length + 1).replace(/\.ts$/, ".js")) : path;
};
