import { readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import * as taskgate from "../../shared";

/* Goal: functions/ holds the user's app only, and reaches Taskgate through the package's doors alone. */
const root = join(__dirname, "../..");
const doors = ["taskgate", "taskgate/functions", "taskgate/testing"];
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const files = globSync("functions/**/*.ts", { cwd: root });
const manifest = JSON.parse(read("package.json")) as {
  dependencies: Record<string, string>;
  exports: Record<string, string>;
};

/** What a source imports that is neither its neighbour, Node's, a door nor a package that is deployed with the app. */
function foreignImports(
  path: string,
  source: string,
  dependencies: Readonly<Record<string, string>> = manifest.dependencies,
): string[] {
  const named = [
    ...source.matchAll(
      /^(?:(?:import|export|\}).*from |import )"([^"]+)"|\b(?:require|import)\("([^"]+)"\)/gm,
    ),
  ].map(([, name, called]) => name ?? called ?? "");
  return named.filter((name) => {
    if (name.startsWith(".")) return !join(path, "..", name).startsWith("functions");
    const isBuiltin = name.startsWith("node:") || builtinModules.includes(name);
    const isTaskgate = name === "taskgate" || name.startsWith("taskgate/");
    return isTaskgate ? !doors.includes(name) : !isBuiltin && !(packageOf(name) in dependencies);
  });
}

/** `@scope/name` of `@scope/name/file`. */
function packageOf(specifier: string): string {
  const parts = specifier.split("/");
  return parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/");
}

describe("the files below functions/", () => {
  test.each(files)(
    "%s imports only its neighbours, Node, packages of `dependencies` and the doors",
    (path) => {
      expect(foreignImports(path, read(path))).toEqual([]);
    },
  );

  test("an internal path is found", () => {
    const source = 'import { a } from "../../shared/core/ids";\nimport b from "taskgate/dist/x";';
    expect(foreignImports("functions/tasks/greet.ts", source)).toEqual([
      "../../shared/core/ids",
      "taskgate/dist/x",
    ]);
  });

  test("packages of `dependencies` may be imported with their files, others may not", () => {
    const packages = ["zod", "zod/mini", "@azure/functions", "@azure/storage-blob", "zodiac"];
    const source = packages.map((name) => `import x from "${name}";`).join("\n");
    const own = { zod: "4.0.0", "@azure/functions": "4.0.0" };
    expect(foreignImports("functions/tasks/greet.ts", source, own)).toEqual([
      "@azure/storage-blob",
      "zodiac",
    ]);
    expect(foreignImports("functions/tasks/greet.ts", 'import { z } from "zod";')).toEqual([]);
  });

  test("the entry has at most 15 lines and imports only Azure's library and the gate", () => {
    const entry = read("functions/index.ts");
    expect(entry.trimEnd().split("\n").length).toBeLessThanOrEqual(15);
    expect([...entry.matchAll(/from "([^"]+)"/g)].map(([, name]) => name)).toEqual([
      "@azure/functions",
      "./gate",
    ]);
  });
});

test("package.json names every door, and nothing else but itself", () => {
  expect(Object.keys(manifest.exports)).toEqual([
    ...doors.map((door) => door.replace(/^taskgate/, ".")),
    "./package.json",
  ]);
});

test("the reference names no error class that no door exports", () => {
  const named = new Set(read("docs/reference/typescript.md").match(/\b[A-Z]\w*Error\b/g));
  expect(named.size).toBeGreaterThan(5);
  expect([...named].filter((name) => !(name in taskgate))).toEqual([]);
});
