import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { unverifiedRules } from "./unverified-rules";

test("docs/internals/tsql-simulation.md lists every rule that no document states, with what settles it", () => {
  const page = readFileSync(join(__dirname, "../../docs/internals/tsql-simulation.md"), "utf8");
  const missing = unverifiedRules.filter(
    ({ question, scripts }) =>
      !page.includes(question) || !scripts.every((script) => page.includes(script)),
  );
  expect(missing.map(({ question }) => question)).toEqual([]);
});
