/** @jest-environment ./test/support/planted-environment.cjs */
import { afterAll } from "@jest/globals";
import { memorySetup } from "../../support/memory-setup";
import { describeFaults } from "./expect-failures";
import { contractFaults } from "./faults";

const setup = memorySetup();
afterAll(() => setup.close());

describeFaults(setup, contractFaults);
