import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";

/* No package runs a script of its own while it is installed: an attacker who takes one over would run it on every machine. */
const root = join(__dirname, "..", "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Where people and programs are told to install, and where programs do it. */
const places = [
  "README.md",
  "CONTRIBUTING.md",
  "azure.yaml",
  ".ci/run",
  ...globSync([".github/workflows/*.yml", "infra/*.mjs", "**/Dockerfile*"], {
    cwd: root,
    dot: true,
    ignore: ["node_modules/**"],
  }),
];

/** Lines that install without the option. A hook's words stand in a list: `"npm", ["ci", ..`. */
function careless(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => /\bnpm["'`,\s[]+(?:ci|i|install|add)\b(?!\s*\/)/.test(line))
    .filter((line) => !line.includes("--ignore-scripts"));
}

test("every installation leaves out the packages' own scripts", () => {
  expect(places.length).toBeGreaterThan(6);
  expect(Object.fromEntries(places.map((place) => [place, careless(read(place))]))).toEqual(
    Object.fromEntries(places.map((place) => [place, []])),
  );
  expect(places.filter((place) => read(place).includes("--ignore-scripts"))).toEqual(
    expect.arrayContaining(["README.md", ".ci/run", "infra/azd-hook.mjs"]),
  );
});

test("an installation that forgets it is found", () => {
  expect(
    careless('step npm ci --no-progress\nrun("npm", ["ci", "--x"]);\n- run: npm install a'),
  ).toHaveLength(3);
});

test("npm itself is told so, for users of the short command, and no package is excepted", () => {
  expect(read(".npmrc").split("\n")).toContain("ignore-scripts=true");
  const { allowScripts } = JSON.parse(read("package.json")) as {
    allowScripts: Record<string, boolean>;
  };
  expect(Object.values(allowScripts)).not.toContain(true);
});
