import { describeEngine } from "./exhaustive";

describeEngine("azure");
