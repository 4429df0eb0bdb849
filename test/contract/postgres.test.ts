import { afterAll, describe } from "@jest/globals";
import { postgresSetup } from "../support/postgres-setup";
import { describeStore } from "./store.contract";

/*
 * In a database whose administrator has changed what sessions begin with: none of it may change an answer. Other files run on the
 * server's own defaults.
 */
const settings = {
  standard_conforming_strings: "off",
  array_nulls: "off",
  default_transaction_deferrable: "on",
  transform_null_equals: "on",
  IntervalStyle: "sql_standard",
  TimeZone: "Asia/Kathmandu",
  bytea_output: "escape",
  quote_all_identifiers: "on",
  search_path: "pg_catalog",
  xmloption: "document",
};
const setup = postgresSetup({ settings });
afterAll(() => setup.close());

describe("PostgreSQL keeps the contract", () => {
  describeStore(setup);
});
