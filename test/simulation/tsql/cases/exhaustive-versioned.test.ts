import { describeEngine } from "./exhaustive";

describeEngine("versioned");
