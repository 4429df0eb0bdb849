import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";

/* Tests that the gate leaves out run at night: none is forgotten. */
const root = join(__dirname, "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

test("npm run test:whole, which the nightly workflow calls, runs each file that has such tests", () => {
  const files = globSync(["test/**/*.test.ts"], { cwd: root, ignore: ["**/node_modules/**"] });
  const whole = files.filter((file) => read(file).includes("support/whole"));
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const paths = (scripts["test:whole"] ?? "").split(" ").filter((word) => word.startsWith("test/"));
  const named = (file: string): boolean => paths.some((path) => file.startsWith(path));
  expect(whole.length).toBeGreaterThan(5);
  expect(whole.filter((file) => !named(file))).toEqual(["test/static/whole.test.ts"]);
  expect(read(".github/workflows/nightly.yml")).toContain("run: npm run test:whole\n");
});
