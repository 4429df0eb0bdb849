import { afterAll, describe } from "@jest/globals";
import { postgresSetup } from "../support/postgres-setup";
import { describeStore } from "./store.contract";

const setup = postgresSetup();
afterAll(() => setup.close());

describe("PostgreSQL keeps the contract", () => {
  describeStore(setup);
});
