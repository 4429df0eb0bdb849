// Lets a child process of a test run the TypeScript sources without a build, as the T-SQL server's own tests do:
//   node -r ./test/support/register-swc.cjs program.ts
"use strict";

const Module = require("node:module");
const { join } = require("node:path");
require("../tsql-server/support/register-swc.cjs");

// The package's doors, from their sources: the compiled ones would be a second instance, and an old one.
const shared = join(__dirname, "..", "..", "shared");
const doors = new Map([
  ["taskgate", join(shared, "index.ts")],
  ["taskgate/functions", join(shared, "functions", "index.ts")],
  ["taskgate/testing", join(shared, "testing", "index.ts")],
]);
const resolve = Module._resolveFilename;
Module._resolveFilename = (name, ...rest) => doors.get(name) ?? resolve(name, ...rest);
