import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";

const folder = join(__dirname, "../contract");
const read = (file: string): string => readFileSync(join(folder, file), "utf8");

test("the gate runs where no call is lost the tests that the contract skips where calls are lost", () => {
  const [, ran = ""] = read("store.contract.ts").split("export function describeSureCalls");
  const needing = globSync(["*.contract.ts"], { cwd: folder }).filter((file) =>
    read(file).includes('"sure calls"'),
  );
  expect(needing.length).toBeGreaterThan(5);
  const missed = needing.filter((file) => {
    const suites = read(file).match(/(?<=^export function )describe\w+/gm) ?? [];
    return !suites.some((suite) => ran.includes(`  ${suite}(setup);`));
  });
  expect(missed).toEqual([]);
});
