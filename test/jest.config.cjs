// jest with swc: no build step, no stale output. `npm run typecheck` is a gate of its own.

// Workers take it over, and what they start. Simulations make many objects that live for a step or two: with V8's own size
// a seventh of their time goes into collecting them.
const youngObjects = "--max-semi-space-size";
if (process.allowedNodeEnvironmentFlags.has(youngObjects)) {
  const { NODE_OPTIONS: given = "" } = process.env;
  if (!given.includes(youngObjects))
    process.env.NODE_OPTIONS = `${given} ${youngObjects}=64`.trim();
}

module.exports = {
  rootDir: "..",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: {
    "^.+\\.ts$": [
      "<rootDir>/test/support/swc-transform.cjs",
      { jsc: { target: "es2023", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  // The package's own entry, from its sources (package.json: exports).
  moduleNameMapper: { "^taskgate/testing$": "<rootDir>/shared/testing/index.ts" },
  setupFilesAfterEnv: ["<rootDir>/test/support/only-logins.ts"],
  globalSetup: "<rootDir>/test/support/global-setup.cjs",
  globalTeardown: "<rootDir>/test/support/global-teardown.cjs",
  testTimeout: 120_000,
  maxWorkers: 3,
  // Node takes 0.3 s to end with a heap of 600 MB, 0.8 s with 1.4 GB: jest's 0.5 s call that a leak. One that leaves a handle never ends.
  workerGracefulExitTimeout: 10_000,
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
};
