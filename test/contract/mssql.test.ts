import { afterAll, describe } from "@jest/globals";
import { mssqlSetup } from "../support/mssql-setup";
import { describeStore } from "./store.contract";

const url = process.env["TASKGATE_TEST_MSSQL_URL"];
const reason = "TASKGATE_TEST_MSSQL_URL names no SQL Server database for tests";

const setup = mssqlSetup(url ?? "");
afterAll(() => setup.close());

if (url === undefined) console.info(`SQL Server: the contract suite is skipped: ${reason}`);
const describeHere = url === undefined ? describe.skip : describe;
const title = url === undefined ? ` (skipped: ${reason})` : "";

describeHere(`SQL Server keeps the contract${title}`, () => {
  describeStore(setup);
});
