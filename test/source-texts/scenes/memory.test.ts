import { describe } from "@jest/globals";
import { memoryStages } from "../memory-stage";
import { describeScenes } from "../scene";
import { scenes } from "./scenes";

describe("the source texts' behaviours on the memory store", () => {
  describeScenes(memoryStages(), scenes);
});
