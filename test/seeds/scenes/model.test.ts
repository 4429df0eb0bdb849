import { describe } from "@jest/globals";
import { modelStages } from "../model-stage";
import { describeScenes } from "../scene";
import { scenes } from "./scenes";

describe("the source texts' behaviours on the model store", () => {
  describeScenes(modelStages(), scenes);
});
