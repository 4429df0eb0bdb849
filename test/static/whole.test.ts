import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";

/* Tests that the gate leaves out run at night: none is forgotten. */
const root = join(__dirname, "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("npm run test:whole, which the nightly workflow calls, runs each file that has such tests", () => {
  const files = globSync(["test/**/*.test.ts"], { cwd: root, ignore: ["**/node_modules/**"] });
  const whole = files.filter((file) => /from "[./]+\/support\/whole"/.test(read(file)));
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const [, words = ""] = (scripts["test:whole"] ?? "").split(" jest ");
  const jest = join(root, "node_modules/jest/bin/jest.js");
  const run = [jest, ...words.split(" "), "--listTests", "--json"];
  const listed = JSON.parse(
    execFileSync(process.execPath, run, { cwd: root, encoding: "utf8" }),
  ) as string[];
  expect(whole.length).toBeGreaterThan(20);
  expect(listed).toEqual(expect.arrayContaining(whole.map((file) => join(root, file))));
  expect(read(".github/workflows/nightly.yml")).toContain("run: npm run test:whole\n");
});
