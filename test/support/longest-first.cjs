// The order in which jest starts test files: the longest first, so that no core idles while the last one runs.
// Without figures of an earlier run, as on a clean checkout, jest goes by the size of a file; but a file of few lines may run
// a whole contract, or thousands of cases.
"use strict";
const { default: Sequencer } = require("@jest/test-sequencer");
const { join } = require("node:path");

/** Test files that take longest, in the order of their start. */
const longest = [
  "contract/tsql-interleaved",
  "package/package",
  "sample/run",
  "contract/postgres",
  "contract/tsql-simulated",
  "functions/dashboard",
  "tsql/cases/exhaustive",
  "local/embedded-postgres",
  "chaos/chaos",
  "contract/concurrency.postgres",
  "bad-input/bad-input",
  "sample/run-on-tsql",
  "fault/limit",
  "functions/command-examples",
  "functions/resident",
  "source-texts/scenes/postgres",
  "tsql/costs/costs",
  "tsql/histories/histories",
  "contract/stampede.postgres",
  "fault/outage",
  "local/supervisor",
  "tsql/costs/life",
  "functions/away",
  "tsql/cases/cases",
  "functions/limited-host",
  "functions/openapi/openapi",
  "types/types",
  "bad-input/secrets",
  "functions/two-apps",
  "e2e/own-app",
  "functions/dashboard-pages",
  "source-texts/scenes/tsql",
  "workers/idle",
  "parallel/parallel",
  "functions/terminal",
  "fault/lost-answers",
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
