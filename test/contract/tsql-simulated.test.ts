import { afterAll, describe } from "@jest/globals";
import { simulatedMssqlSetup } from "../support/simulated-mssql-setup";
import { isWhole } from "../support/whole";
import { describeStore, describeSureCalls } from "./store.contract";

/*
 * One caller after the other. The gate runs here what tsql-interleaved.test.ts, which runs all the rest under harder
 * conditions, has to skip; `npm run test:whole` runs the whole contract. Rows come the other way round wherever no ORDER BY
 * promises an order, those that a TOP takes, too: no operation may depend on one.
 */
const setup = simulatedMssqlSetup({ switches: { rowsBackwards: true, topsBackwards: true } });
afterAll(() => setup.close());

describe("The simulated SQL Server keeps the contract", () => {
  (isWhole ? describeStore : describeSureCalls)(setup);
});
