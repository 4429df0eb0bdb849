import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import { hasSample } from "../support/sample";

/* House rules that no other tool looks after, over every file that is kept. */
const root = join(__dirname, "../..");
const self = "test/static/tidy.test.ts";

/** Kept files: git's list, or, where there is no git, every file that isn't generated. */
function listFiles(): string[] {
  if (existsSync(join(root, ".git"))) {
    const options = ["ls-files", "--cached", "--others", "--exclude-standard"];
    return execFileSync("git", options, { cwd: root, encoding: "utf8" })
      .split("\n")
      .filter((path) => path !== "" && existsSync(join(root, path)));
  }
  const ignore = ["node_modules/**", "dist/**", "coverage/**", ".taskgate/**"];
  return globSync(["**/*"], { cwd: root, dot: true, ignore });
}

const text =
  /\.(ts|js|cjs|mjs|json|jsonc|md|sql|css|html|yaml|yml|bicep|bicepparam)$|(^|\/)\.?[\w-]+$/;
const files = listFiles()
  .filter((path) => path !== self && path !== "package-lock.json" && text.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
const code = files.filter(({ path }) => /\.(ts|js|cjs|mjs|sql)$/.test(path));

/** `path:line text` of what fits. */
function find(list: typeof files, pattern: RegExp): string[] {
  return list.flatMap(({ path, text: content }) =>
    content
      .split("\n")
      .map((line, index) => ({ line, place: `${path}:${String(index + 1)}` }))
      .filter(({ line }) => pattern.test(line))
      .map(({ line, place }) => `${place} ${line.trim().slice(0, 100)}`),
  );
}

describe("every file", () => {
  test("every file is looked at", () => {
    expect(files.length).toBeGreaterThan(400);
  });

  test("every file names no folder of a developer's computer", () => {
    // /home/me stands for any user's.
    const folder =
      /(?:^|[\s"'`(=:])(?:\/(?:work|root|Users|mnt|private)\/\w|\/home\/(?!me\b)\w|[A-Z]:\\Users\\)/;
    expect(find(files, folder)).toEqual([]);
  });

  test("every file is finished", () => {
    // Fields of the dashboard have an attribute of that name.
    const open = /\b(?:placeholder(?!=|:| =| \{)|lorem ipsum|TODO|FIXME|XXX)\b/i;
    expect(find(files, open)).toEqual([]);
  });

  test("every file ends with one line end, without carriage returns, tabs in code or a byte order mark", () => {
    const wrong = files.filter(
      ({ path, text: content }) =>
        content.includes("\r") ||
        content.startsWith("\uFEFF") ||
        (content !== "" && !content.endsWith("\n")) ||
        (/\.(ts|sql)$/.test(path) && content.includes("\t")),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

test("a checkout has the same line ends everywhere, also where Git is told to write those of Windows", () => {
  if (!existsSync(join(root, ".git"))) return;
  const paths = files.map(({ path }) => path);
  const answer = execFileSync("git", ["check-attr", "--stdin", "eol"], {
    cwd: root,
    encoding: "utf8",
    input: paths.join("\n"),
  });
  const lines = answer.trimEnd().split("\n");
  expect(lines).toHaveLength(paths.length);
  expect(lines.filter((line) => !line.endsWith(": eol: lf"))).toEqual([]);
});

describe("code", () => {
  test("the code of the product stands in files of at most 400 lines, SQL in 430, that of tests in 600", () => {
    const lengths = code.map(({ path, text: content }) => ({
      path,
      lines: content.split("\n").length - 1,
    }));
    expect(lengths.filter(({ path, lines }) => lines > linesMax(path))).toEqual([]);
    const paths = new Set(code.map(({ path }) => path));
    expect([...longFiles.keys()].filter((path) => !paths.has(path))).toEqual([]);
  });

  test("the runner of the execution loop has at most 350 lines", () => {
    // The runner keeps timers and I/O; the next step is a pure decision in shared/core/next-call.ts.
    const runner = code.find(({ path }) => path === "shared/worker/run/execution-loop.ts");
    expect(runner?.text.split("\n").length).toBeLessThanOrEqual(351);
  });

  test("the code writes to the console only where a program does", () => {
    const product = code.filter(
      ({ path }) =>
        /^(shared|functions)\//.test(path) && !path.startsWith("shared/functions/dashboard/ui/"),
    );
    expect(find(product, /\bconsole\.\w+\(/)).toEqual([]);
    const tests = code.filter(
      ({ path }) =>
        path.startsWith("test/") && !/^test\/bench\/|-process\.ts$|\/fixtures\//.test(path),
    );
    expect(find(tests, /^\s*console\.log\(/)).toEqual([]);
  });

  test("the code reads the environment in shared/settings, shared/local, azd's hooks and tests", () => {
    // The telemetry packages know no other way to be told a name.
    const allowed =
      /^(?:shared\/(?:settings|local)\/|shared\/platform\/telemetry\.ts$|test\/|infra\/azd-hook\.mjs$|\.ci\/)/;
    expect(
      find(
        code.filter(({ path }) => !allowed.test(path)),
        /\bprocess\.env\b/,
      ),
    ).toEqual([]);
  });

  test("the code switches no rule off", () => {
    // Mistakes that the compiler must find are what the fixtures of the types consist of.
    const checked = code.filter(
      ({ path }) => path.endsWith(".ts") && !path.startsWith("test/types/"),
    );
    expect(
      find(
        checked,
        /@ts-(?:ignore|expect-error|nocheck)|(?:eslint|oxlint)-disable|oxfmt-ignore|jest\.mock\(|\bas any\b|: any[;,)=>[\]]/,
      ),
    ).toEqual([]);
  });

  // Names that were given up; the glossary and the port have others for them.
  test.each([
    [
      "heldMost",
      /[a-z]Most\b|\bmost[A-Z]\w*|\b(?:const|let|readonly) most\b|@v?Most\b|[pv]_most\b/,
    ],
    ["surplusKeep", /(?<!release_?)surplus/i],
    ["spareMax", /spareMax|maxLost/],
    ["WorkerSession", /WorkerSession|IdleSessions|OwnSession/],
    ["runtime.stay()", /\bstay\(|\bnoStay\b/],
    ["askKnown", /\baskKnown|\blookAfterSchedules|TokenLooks|ScanPlace|[tT]askInHand|\binHand\b/],
    ["statusPage", /status[- ]?page/i],
    // Texts and members say `ended`; only SQL says `finished`.
    [`title: "finished"`, /(?:title: |\[)"finished"|"finished (?:tasks?|ones?)\b/],
  ])("the product has no name like %s", (name, givenUp) => {
    expect(name).toMatch(givenUp);
    const product = code.filter(
      ({ path }) => /^(shared|functions)\//.test(path) && !path.includes("/migrations/"),
    );
    expect(find(product, givenUp)).toEqual([]);
  });

  test("the product's members say `ended` of tasks; where SQL's answers are read, they say `finished`", () => {
    const product = code.filter(
      ({ path }) =>
        /^(shared|functions)\/.*\.(ts|js)$/.test(path) &&
        !/^shared\/store\/operations\/(?:answer-words|task-list)\.ts$/.test(path),
    );
    expect(find(product, /\b(?:[fF]inished(?:At|AtMs|Since|Before)|isFinished)\b/)).toEqual([]);
  });

  test("a bound of the tests is named Max, as the product's are", () => {
    const tests = code.filter(
      ({ path }) => path.startsWith("test/") && path !== "test/static/tidy.test.ts",
    );
    expect(find(tests, /\b(?!atMost\b)[a-z]\w*Most\b/)).toEqual([]);
  });

  test("the code waits for nothing without a bound: no `while (true)`", () => {
    expect(
      find(
        code.filter(({ path }) => /^(shared|functions)\//.test(path)),
        /while \(true\)|WHILE 1 ?= ?1/,
      ),
    ).toEqual([]);
  });

  test("each test file is found by jest outside of every folder that programs write", () => {
    const { projects } = createRequire(__filename)("../jest.config.cjs") as {
      projects: { rootDir: string; modulePathIgnorePatterns?: string[] }[];
    };
    const product = projects.find(({ rootDir }) => join(rootDir) === root);
    const written = readFileSync(join(root, ".gitignore"), "utf8")
      .split("\n")
      .filter((line) => /^(?!node_modules|coverage|landing)[.\w]+\/$/.test(line));
    expect(written).toEqual(["dist/", ".taskgate/"]);
    expect(product?.modulePathIgnorePatterns).toEqual(written.map((name) => `<rootDir>/${name}`));
  });

  test("the list of test files that start before the others names files that exist", () => {
    const { longest } = createRequire(__filename)("../support/longest-first.cjs") as {
      longest: string[];
    };
    expect(longest.length).toBeGreaterThan(20);
    const expected = longest.filter(
      (path) => hasSample || !path.startsWith(join(root, "test/sample")),
    );
    expect(expected.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("the code has file names in kebab-case, one topic each", () => {
    const odd = code
      .filter(({ path }) => /^(shared|functions|test)\/.*\.ts$/.test(path))
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^[a-z0-9-]+(\.[a-z]+)*\.ts$/.test(basename(path)) ||
          /(^|\/)(utils?|helpers?|common|misc)(\/|\.ts$)/.test(path),
      );
    expect(odd).toEqual([]);
  });
});

/** Files of the product that may be longer: a class whose methods share its state, or a list of rows or types. */
const longFiles: ReadonlyMap<string, number> = new Map([
  ["shared/store/operations/claims.ts", 410],
  ["shared/store/postgres/postgres-caller.ts", 460],
  ["shared/testing/memory-store/state.ts", 440],
  ["shared/worker/run/limit-pool.ts", 500],
]);

/** A suite that every store runs is a list of cases: longer than code, and shorter than a day. */
function linesMax(path: string): number {
  // Written by a test: what a migrated database holds.
  if (path === "test/migration/schema.postgres.sql") return 900;
  // The logic of a release, joined as its migrator ran it.
  if (/^test\/migration\/fixtures\/logic-.*\.sql$/.test(path)) return Infinity;
  // All tables in one place.
  if (path.endsWith("/migrations/0001_baseline.sql")) return 550;
  if (path.endsWith(".sql")) return 430;
  if (/^test\/contract\/.*\.ts$|^test\/unit\/store\/memory-task-store\.test\.ts$/.test(path))
    return 900;
  if (/^(shared|functions)\//.test(path)) return longFiles.get(path) ?? 400;
  return 600;
}
