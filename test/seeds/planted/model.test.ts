/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll } from "@jest/globals";
import { modelSetup } from "../../support/model-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";

const setup = modelSetup();
afterAll(() => setup.close());

describeFaults(setup, contractFaults);
