import { afterAll, describe } from "@jest/globals";
import { modelSetup } from "../support/model-setup";
import { describeStore } from "./store.contract";

const setup = modelSetup();
afterAll(() => setup.close());

describe("The model keeps the contract", () => {
  describeStore(setup);
});
