import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { readBlocks, readPage } from "../docs/markdown";
import { parseOptions } from "../orms-launcher/options";
import { systemNames } from "../orms-launcher/system-names";

/*
 * Two folders of the tests are packages of their own, which their commands install: the benchmark beside the peers, and the
 * enqueue in the transactions of ORMs. Nothing is installed here: each package stands by itself, and the guide shows the code that runs.
 */

const root = join(__dirname, "../..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const ormsPage = "docs/guides/orms.md";
const guideFolder = "test/orms/guide";

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const packages = [
  { folder: "test/bench/peers", folders: ["", "systems/"], launcher: "peers-launcher" },
  { folder: "test/orms", folders: ["", "guide/"], launcher: "orms-launcher" },
];

describe.each(packages)("the package in $folder", ({ folder, folders, launcher }) => {
  const manifest = JSON.parse(read(`${folder}/package.json`)) as Manifest;
  const lock = JSON.parse(read(`${folder}/package-lock.json`)) as {
    packages: Record<
      string,
      { version?: string; integrity?: string; dependencies?: object; peerDependencies?: object }
    >;
  };

  test("the package of a folder pins exact versions, each locked with its checksum; the tarball of this project has none", () => {
    const { taskgate, ...others } = manifest.dependencies;
    expect(taskgate).toBe("file:taskgate.tgz");
    const named = { ...others, ...manifest.optionalDependencies, ...manifest.devDependencies };
    for (const [name, version] of Object.entries(named)) {
      expect([name, version]).toEqual([name, expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
      expect([name, lock.packages[`node_modules/${name}`]?.version]).toEqual([name, version]);
    }
    const unlocked = Object.entries(lock.packages)
      .filter(([path, { integrity = "" }]) => path !== "" && !integrity.startsWith("sha512-"))
      .map(([path]) => path);
    expect(unlocked).toEqual(["node_modules/taskgate"]);
  });

  test("the package of a folder has in its lock what the packed project asks for today", () => {
    const { createManifest } = requireFile(".ci/pack-package/manifest.cjs") as {
      createManifest: () => { version: string; dependencies: object; peerDependencies: object };
    };
    const { version, dependencies, peerDependencies } = createManifest();
    expect(lock.packages["node_modules/taskgate"]).toMatchObject({
      version,
      dependencies,
      peerDependencies,
    });
  });

  test("the package of a folder imports its own files and what it depends on, and types only from the launcher", () => {
    // Not into node_modules, where there is one.
    const files = folders
      .flatMap((inner) => readdirSync(join(root, folder, inner)).map((name) => `${inner}${name}`))
      .filter((path) => path.endsWith(".ts"));
    expect(files.length).toBeGreaterThan(8);
    const known = Object.keys(manifest.dependencies);
    for (const file of files) {
      const text = read(`${folder}/${file}`);
      for (const [, kind = "", names = ""] of text.matchAll(
        /^(import type|import) [^;]*? from "([^"]+)";/gm,
      )) {
        // Prisma's generator makes it.
        if (names.startsWith("node:") || names.includes("/generated/")) continue;
        if (!names.startsWith("."))
          expect([file, known]).toEqual([file, expect.arrayContaining([packageOf(names)])]);
        else
          expect([file, names, existsSync(join(root, folder, dirname(file), names))]).toEqual([
            file,
            names,
            true,
          ]);
        if (names.includes(launcher)) expect([file, kind]).toEqual([file, "import type"]);
      }
    }
  });
});

describe("the guide to ORMs", () => {
  const blocks = new Map(readBlocks(ormsPage).map(({ marker, text }) => [marker, text]));
  const files = readdirSync(join(root, guideFolder)).filter((name) => name !== "tables.ts");

  test("the guide to ORMs has a block for each file that `npm run test:orms` runs", () => {
    expect([...blocks.keys()].sort()).toEqual(files.map((name) => name.slice(0, -3)).sort());
    expect(files).toHaveLength(systemNames.length - 1);
  });

  test.each(files)("the guide to ORMs shows %s as it runs", (name) => {
    expect(`${blocks.get(name.slice(0, -3)) ?? ""}\n`).toBe(read(`${guideFolder}/${name}`));
  });

  test("the guide to ORMs names each package, with the version that is judged", () => {
    const { dependencies } = JSON.parse(read("test/orms/package.json")) as Manifest;
    const rows = [...readPage(ormsPage).matchAll(/^\| \[`([^`]+)`\]\S* +\| (\S+) +\|/gm)];
    expect(rows.map(([, name, version]) => [name, version])).toEqual(
      systemNames.filter((name) => name !== "pg").map((name) => [name, dependencies[name]]),
    );
  });
});

describe("npm run test:orms", () => {
  test("npm run test:orms judges all packages unless some are named", () => {
    expect(parseOptions([])).toEqual({ only: systemNames, isInstalled: false });
    expect(parseOptions(["--only", "knex,pg", "--installed"])).toEqual({
      only: ["knex", "pg"],
      isInstalled: true,
    });
  });

  test("npm run test:orms refuses a package that it doesn't judge, and names the near one", () => {
    expect(() => parseOptions(["--only", "kenx"])).toThrow(
      "--only: expected names of packages, got `kenx`. Did you mean knex?",
    );
  });
});

/** `taskgate/functions` and `@mikro-orm/core/x` are of `taskgate` and `@mikro-orm/core`. */
function packageOf(name: string): string {
  return name.split("/", name.startsWith("@") ? 2 : 1).join("/");
}

function requireFile(path: string): unknown {
  return createRequire(__filename)(join(root, path)) as unknown;
}
