// Lets a child process of a test run the TypeScript sources without a build:
//   node -r ./support/register-swc.cjs program.ts
"use strict";

const { readFileSync } = require("node:fs");
const { transformSync } = require("@swc/core");

require.extensions[".ts"] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, "utf8"), {
    filename,
    jsc: { target: "es2023", parser: { syntax: "typescript" } },
    // import() stays what it is: the host loads ES modules with it.
    module: { type: "commonjs", ignoreDynamic: true },
    sourceMaps: "inline",
  });
  module._compile(code, filename);
};
