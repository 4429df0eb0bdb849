import { describeEngine } from "./exhaustive";

describeEngine("locking");
