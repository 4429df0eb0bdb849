/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll } from "@jest/globals";
import { postgresSetup } from "../../support/postgres-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";
import { describeWhole } from "../../support/whole";

const setup = postgresSetup();
afterAll(() => setup.close());

describeWhole("planted faults of the contract", () => {
  describeFaults(setup, contractFaults);
});
