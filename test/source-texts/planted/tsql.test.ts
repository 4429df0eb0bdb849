/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll } from "@jest/globals";
import { simulatedMssqlSetup } from "../../support/simulated-mssql-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";
import { describeWhole } from "../../support/whole";

const setup = simulatedMssqlSetup();
afterAll(() => setup.close());

describeWhole("planted faults of the contract", () => {
  describeFaults(setup, contractFaults);
});
