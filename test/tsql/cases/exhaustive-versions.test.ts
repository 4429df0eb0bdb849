import { describeEngine } from "./exhaustive";

/* Both engines with row versions in one file: its process has read, bound and warmed up everything for the second one. */
describeEngine("versioned");
describeEngine("azure");
