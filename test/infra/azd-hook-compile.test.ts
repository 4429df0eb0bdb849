import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { makeProgram, runNode } from "./fake-programs";

/*
 * Goal: azd's hooks compile a fresh clone, which has no dist: the real compiler over the tracked files alone. Only npm is a
 * program that does nothing, since the packages are there.
 */

const root = join(__dirname, "../..");
const describeHere = process.platform === "win32" ? describe.skip : describe;
const folder = mkdtempSync(join(tmpdir(), "taskgate-clone-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The tracked files that an app's build reads. */
function clone(): void {
  const { stdout } = spawnSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  const files = stdout.split("\0").filter((name) => name !== "" && !/^(test|docs)\//u.test(name));
  expect(files.length).toBeGreaterThan(100);
  for (const name of files.filter((file) => existsSync(join(root, file)))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name));
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

describeHere("azd's hooks in a fresh clone", () => {
  test("make a package from sources alone, with the app and all that it imports", async () => {
    clone();
    const path = makeProgram(folder, "npm", "");
    const hook = join(folder, "infra/azd-hook.mjs");
    const ended = await runNode([hook, "package"], { cwd: tmpdir(), env: { PATH: path } });
    expect(ended).toMatchObject({ code: 0 });
    const made = join(folder, ".taskgate/package");
    const { main } = JSON.parse(readFileSync(join(made, "package.json"), "utf8")) as {
      main: string;
    };
    for (const file of [
      main,
      "dist/shared/cli/main.js",
      "dist/shared/functions/index.js",
      "host.json",
    ])
      expect([file, existsSync(join(made, file))]).toEqual([file, true]);
    expect(existsSync(join(folder, "dist"))).toBe(false);
  }, 120_000);
});
