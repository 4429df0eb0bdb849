/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll } from "@jest/globals";
import { simulatedMssqlSetup } from "../../support/simulated-mssql-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";

const setup = simulatedMssqlSetup();
afterAll(() => setup.close());

describeFaults(setup, contractFaults);
