// jest with swc: no build step, no stale output. `npm run typecheck` is a gate of its own.
module.exports = {
  rootDir: "..",
  testMatch: ["<rootDir>/test/**/*.test.ts"],
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      { jsc: { target: "es2023", parser: { syntax: "typescript" } }, module: { type: "commonjs" } },
    ],
  },
  globalSetup: "<rootDir>/test/support/global-setup.cjs",
  globalTeardown: "<rootDir>/test/support/global-teardown.cjs",
  testTimeout: 30_000,
  maxWorkers: 2,
  modulePathIgnorePatterns: ["<rootDir>/dist/"],
};
