/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll, describe } from "@jest/globals";
import { simulatedMssqlSetup } from "../../support/simulated-mssql-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";
import { isWhole } from "../../support/whole";

const setup = simulatedMssqlSetup();
afterAll(() => setup.close());

describeFaults(setup, contractFaults, isWhole ? describe : describe.skip);
