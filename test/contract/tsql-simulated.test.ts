import { afterAll, describe } from "@jest/globals";
import { simulatedMssqlSetup } from "../support/simulated-mssql-setup";
import { describeStore } from "./store.contract";

const setup = simulatedMssqlSetup();
afterAll(() => setup.close());

describe("The simulated SQL Server keeps the contract", () => {
  describeStore(setup);
});
