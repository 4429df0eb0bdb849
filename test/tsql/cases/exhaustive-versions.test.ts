import { describeEngine } from "./exhaustive";
import { describeWholeTsql } from "../../support/whole-tsql";

/*
 * Both engines with row versions in one file: its process has read, bound and warmed up everything for the second one.
 * Azure SQL's is what production runs. The other stands between it and the one that has locks alone.
 */
describeEngine("azure");

describeWholeTsql("Row versions without optimized locking", () => {
  describeEngine("versioned");
});
