// The order in which jest starts test files: the longest first, so that no core idles while the last one runs.
// Without figures of an earlier run, as on a clean checkout, jest goes by the size of a file; but a file of few lines may run
// a whole contract, or thousands of cases.
"use strict";
const { default: Sequencer } = require("@jest/test-sequencer");
const { join } = require("node:path");

/** Test files that take longest, in the order of their start. */
const longest = [
  "package/package",
  "e2e/sample",
  "contract/tsql-interleaved",
  "contract/postgres",
  "tsql/histories/histories",
  "tsql/cases/exhaustive",
  "functions/dashboard-pages",
  "chaos/chaos",
  "e2e/own-app",
  "e2e/sample-on-tsql",
  "workers/idle",
  "functions/dashboard",
  "fault/limit",
  "parallel/parallel",
  "contract/tsql-simulated",
  "contract/concurrency.postgres",
  "seeds/scenes/postgres",
  "seeds/scenes/tsql",
  "functions/limited-host",
  "tsql/costs/costs",
  "tsql/costs/life",
  "functions/resident",
  "functions/terminal",
  "functions/openapi/openapi",
  "fault/lost-answers",
  "fault/outage",
  "tsql/cases/cases",
].map((name) => join(__dirname, "..", `${name}.test.ts`));

class LongestFirst extends Sequencer {
  sort(tests) {
    const placeOf = ({ path }) => {
      const place = longest.indexOf(path);
      return place === -1 ? longest.length : place;
    };
    return super.sort(tests).toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

module.exports = LongestFirst;
module.exports.longest = longest;
