// Tests under a `describe` that is named in `plantedFaults` (test/source-texts/planted/expect-failures.ts) run with a fault: of
// them those stay that the fault is meant for, and each of these must fail, with the message that is named.
const { stripVTControlCharacters } = require("node:util");
const { TestEnvironment } = require("jest-environment-node");

class PlantedEnvironment extends TestEnvironment {
  handleTestEvent(event, state) {
    if (event.name !== "run_start") return;
    expectFailures(state.rootDescribeBlock, this.global.plantedFaults ?? new Map());
  }
}

function expectFailures(block, faults, fault) {
  const own = fault ?? faults.get(block.name);
  if (own !== undefined) {
    block.children = block.children.filter(
      (child) => child.type !== "test" || own.tests.test(child.name),
    );
    block.tests = block.children.filter((child) => child.type === "test");
  }
  for (const child of block.children) {
    if (child.type === "describeBlock") expectFailures(child, faults, own);
    else if (own !== undefined) child.fn = failing(child.fn, own.found);
  }
}

function failing(body, found) {
  return async () => {
    let said = "nothing";
    try {
      await body();
    } catch (error) {
      said = stripVTControlCharacters(String(error));
    }
    if (!found.test(said))
      throw new Error(`Expected the fault to be found (${String(found)}), got: ${said}`);
  };
}

module.exports = PlantedEnvironment;
