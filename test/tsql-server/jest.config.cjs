const { join } = require("node:path");

// The server's own tests: `npm test` of the repository runs them beside the product's, `npm test` here runs them alone.
module.exports = {
  displayName: "tsql-server",
  rootDir: __dirname,
  testMatch: ["<rootDir>/**/*.test.ts"],
  transform: {
    "^.+\\.ts$": [
      join(__dirname, "support/swc-transform.cjs"),
      { jsc: { target: "es2023", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  testTimeout: 120_000,
};
