// The driver must see errors of sockets here as it does outside jest.
import "../../support/node-errors";
import { describe } from "@jest/globals";
import { describeWhole } from "../../support/whole";
import { describeScenes } from "../scene";
import { tsqlStages } from "../tsql-stage";
import { tsqlLockScenes } from "./locks-tsql";
import { scenes } from "./scenes";

describe("the source texts' behaviours on the T-SQL through TDS", () => {
  describeScenes(tsqlStages(), [...scenes, ...tsqlLockScenes], describeWhole);
});
