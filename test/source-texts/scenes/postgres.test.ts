import { describe } from "@jest/globals";
import { postgresStages } from "../postgres-stage";
import { describeWhole } from "../../support/whole";
import { describeScenes } from "../scene";
import { postgresLockScenes } from "./locks-postgres";
import { scenes } from "./scenes";

describe("the source texts' behaviours on PostgreSQL", () => {
  describeScenes(postgresStages(), [...scenes, ...postgresLockScenes], describeWhole);
});
