/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll } from "@jest/globals";
import { postgresSetup } from "../../support/postgres-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";

const setup = postgresSetup();
afterAll(() => setup.close());

describeFaults(setup, contractFaults);
