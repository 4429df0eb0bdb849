/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll, describe } from "@jest/globals";
import { postgresSetup } from "../../support/postgres-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";
import { isWhole } from "../../support/whole";

const setup = postgresSetup();
afterAll(() => setup.close());

describeFaults(setup, contractFaults, isWhole ? describe : describe.skip);
