import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { pasteShell } from "./paste-shell";
import { testBlocksRan } from "./run-blocks";

/*
 * Goal: the merge of the upgrade guide gives a copy the new version, and leaves the app's own files as they were. Two small repositories have
 * the folders of this one; git and npm are real.
 */
const page = "docs/guides/upgrade.md";
const place = mkdtempSync(join(tmpdir(), "taskgate-upgrade-"));
const ours = join(place, "taskgate");
const copy = join(place, "copy");
/** git asks for an author, and nothing of the machine's own settings may count. */
const author = {
  ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b.c" },
  ...{ GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b.c" },
  ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
};

function git(folder: string, ...words: string[]): string {
  const { PATH } = process.env;
  return execFileSync("git", words, {
    cwd: folder,
    env: { PATH, ...author },
    encoding: "utf8",
    stdio: "pipe",
  });
}

function save(folder: string, files: Readonly<Record<string, string | null>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    if (text === null) rmSync(path);
    else writeFileSync(path, text);
  }
  git(folder, "add", "--all");
  git(folder, "commit", "--quiet", "--message", "Changes");
}

const read = (name: string): string => readFileSync(join(copy, name), "utf8");
const manifest = (version: string, scripts: Readonly<Record<string, string>>): string =>
  `${JSON.stringify({ name: "taskgate", version, scripts }, null, 2)}\n`;
const build = { build: "node -e \"require('fs').writeFileSync('built', '')\"" };

beforeAll(() => {
  mkdirSync(ours);
  git(ours, "init", "--quiet", "--initial-branch", "main");
  save(ours, {
    ".gitignore": "built\nnode_modules/\n",
    "azure.yaml": "name: taskgate\n",
    "functions/tasks/index.ts": "sample\n",
    "functions/tasks/flights/load.ts": "sample\n",
    "host.json": '{ "version": "2.0" }\n',
    "package.json": manifest("1.0.0", build),
    "README.md": "First\n",
    "shared/index.ts": "first\n",
  });
  git(place, "clone", "--quiet", ours, copy);
  git(copy, "remote", "remove", "origin");
  save(copy, {
    "azure.yaml": "name: billing\n",
    "functions/tasks/flights/load.ts": null,
    "functions/tasks/index.ts": "mine\n",
    "package.json": manifest("7.0.0", build),
  });
  save(ours, {
    "azure.yaml": "name: taskgate\nhooks: {}\n",
    "functions/tasks/flights/load.ts": "newer\n",
    "functions/tasks/flights/split.ts": "newer\n",
    "functions/tasks/index.ts": "newer\n",
    "host.json": '{ "version": "2.0", "logging": {} }\n',
    "package.json": manifest("2.0.0", build),
    "README.md": "Second\n",
    "shared/index.ts": "second\n",
  });
});
afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

test("the merge of a new version brings the product, and leaves functions, azure.yaml and host.json as they are in the copy", async () => {
  // With conflicts the merge ends with 1; at a prompt the next line follows all the same.
  const adapt = (text: string): string => text.replace(/^git merge .*$/m, "! $&");
  const status = await pasteShell([page, "merge"], { folder: copy, env: author, adapt });
  // What is left: the version in package.json, which both have changed.
  expect(status).toMatch(
    /\nAutomatic merge failed.*\nM {2}README\.md\nUU package\.json\nM {2}shared\/index\.ts\n$/,
  );
  expect(git(copy, "ls-files", "functions")).toBe("functions/tasks/index.ts\n");
  expect(existsSync(join(copy, "functions/tasks/flights"))).toBe(false);
  expect(read("functions/tasks/index.ts")).toBe("mine\n");
  expect(read("azure.yaml")).toBe("name: billing\n");
  expect(read("host.json")).toBe('{ "version": "2.0" }\n');
  expect(read("shared/index.ts")).toBe("second\n");
});

test("the commands behind the merge install, build and commit the new version with its lock", async () => {
  writeFileSync(join(copy, "package.json"), manifest("7.0.1", build));
  git(copy, "add", "package.json");
  await pasteShell([page, "after-merge"], { folder: copy, env: author });
  expect(existsSync(join(copy, "built"))).toBe(true);
  expect(git(copy, "status", "--short")).toBe("");
  expect(git(copy, "show", "--no-patch", "--format=%s %p").split(" ")).toHaveLength(7);
  expect(git(copy, "ls-files", "package-lock.json")).toBe("package-lock.json\n");
});

testBlocksRan([
  [page, "merge"],
  [page, "after-merge"],
]);
