// Prints what was skipped and why (the reason stands in the title), then the one line that counts: N passed, N failed.
"use strict";
const { readFileSync } = require("node:fs");

const [, , file, code] = process.argv;
let report = null;
try {
  report = JSON.parse(readFileSync(file, "utf8"));
} catch {
  console.log("0 passed, 1 failed");
  process.exit(1);
}
const skipped = report.testResults.flatMap((suite) =>
  suite.assertionResults.filter((test) => test.status === "pending"),
);
const reasons = new Map();
for (const test of skipped) {
  const reason = test.ancestorTitles[0] ?? test.title;
  reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
}
for (const [reason, count] of reasons) console.log(`skipped ${count}: ${reason}`);
// A suite that could not even start has no failed test of its own.
// Nor has a run that failed as a whole.
const failed = Math.max(
  report.numFailedTests + report.numRuntimeErrorTestSuites,
  code === "0" ? 0 : 1,
);
console.log(`${report.numPassedTests} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
