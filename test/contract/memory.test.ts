import { afterAll, describe } from "@jest/globals";
import { memorySetup } from "../support/memory-setup";
import { describeStore } from "./store.contract";

const setup = memorySetup();
afterAll(() => setup.close());

describe("The memory store keeps the contract", () => {
  describeStore(setup);
});
