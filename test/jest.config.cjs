const { join } = require("node:path");

// jest with swc: no build step, no stale output. `npm run typecheck` is a gate of its own.

// Workers take it over, and what they start. Simulations make many objects that live for a step or two: with Node's own size
// a seventh of their time goes into collecting them.
const youngObjects = "--max-semi-space-size";
if (process.allowedNodeEnvironmentFlags.has(youngObjects)) {
  const { NODE_OPTIONS: given = "" } = process.env;
  if (!given.includes(youngObjects))
    process.env.NODE_OPTIONS = `${given} ${youngObjects}=64`.trim();
}

const root = join(__dirname, "..");

const product = {
  displayName: "taskgate",
  rootDir: root,
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  testPathIgnorePatterns: ["/node_modules/", "<rootDir>/test/tsql-server/"],
  transform: {
    "^.+\\.ts$": [
      "<rootDir>/test/tsql-server/support/swc-transform.cjs",
      { jsc: { target: "es2023", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  // The package's doors, from their sources (package.json: exports).
  moduleNameMapper: {
    "^taskgate$": "<rootDir>/shared/index.ts",
    "^taskgate/(functions|testing)$": "<rootDir>/shared/$1/index.ts",
  },
  setupFilesAfterEnv: ["<rootDir>/test/support/only-logins.ts"],
  globalSetup: "<rootDir>/test/support/global-setup.cjs",
  globalTeardown: "<rootDir>/test/support/global-teardown.cjs",
  // What is built, and what azd's hooks put together, holds packages of the repository's own name.
  modulePathIgnorePatterns: ["<rootDir>/dist/", "<rootDir>/.taskgate/"],
};

// One run and one report for both: the product, and the T-SQL server with its own tests.
module.exports = {
  rootDir: root,
  projects: [product, require("./tsql-server/jest.config.cjs")],
  // Of both projects: jest takes the limit of a run, and none of a project.
  testTimeout: 120_000,
  maxWorkers: 3,
  testSequencer: require.resolve("./support/longest-first.cjs"),
  // Node takes 0.3 s to end with a heap of 600 MB, 0.8 s with 1.4 GB: jest's 0.5 s call that a leak. One that leaves a handle never ends.
  workerGracefulExitTimeout: 10_000,
};
