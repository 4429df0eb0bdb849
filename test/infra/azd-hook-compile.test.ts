import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect } from "@jest/globals";
import { describePosix } from "../support/posix";
import { copyTrackedFiles } from "../support/tracked-files";
import { makeProgram, runNode } from "./fake-programs";
import { testWhole } from "../support/whole";

/*
 * Goal: azd's hooks compile a fresh clone, which has no dist: the real compiler over the tracked files alone. Only npm is a
 * program that does nothing, since the packages are there.
 */

const root = join(__dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "taskgate-clone-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describePosix("azd's hooks in a fresh clone", () => {
  testWhole(
    "azd's hooks make a package from sources alone, with the app and all that it imports",
    async () => {
      const copied = copyTrackedFiles(root, folder, (path) => !/^(test|docs)\//u.test(path));
      expect(copied).toBeGreaterThan(100);
      symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
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
    },
    120_000,
  );
});
