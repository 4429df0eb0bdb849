import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { globSync } from "tinyglobby";
import { createApiRoutes } from "../../shared/functions/api/routes";
import { commands } from "../../shared/cli/commands";
import { showParameter } from "../../shared/cli/command";
import { exitCodes } from "../../shared/cli/exit-codes";
import { globalOptions } from "../../shared/cli/parse-arguments";
import { errorCodes } from "../../shared/core/errors";
import { settingsTable } from "../../shared/settings/settings";
import { operations } from "../../shared/store/operations";
import { toSnakeCase } from "../../shared/store/operations/operation";
import { findDeadLinks, listPages, readBlocks, readPage, readBlock, root } from "../docs/markdown";
import { ensureBuilt } from "../functions/built-app";
import { hasSample, sampleFolder } from "../support/sample";
import { readStop } from "./added-operation";
import { checkCode } from "./docs/check-code";

const madeByReader = ["functions/tasks/greet.ts", ...Object.values(readStop)];

/* The docs match the product: links, commands, code, and every name that a user may meet. */
const pages = listPages();

test("the README has at most 900 words, counted as `wc -w` counts them", () => {
  const words = readPage("README.md")
    .split(/\s+/)
    .filter((word) => word !== "");
  expect(words.length).toBeGreaterThan(500);
  expect(words.length).toBeLessThanOrEqual(900);
});

describe("links", () => {
  test.each(pages)("%s leads only to pages and headings that exist", (page) => {
    expect(findDeadLinks(page)).toEqual([]);
  });

  test("every page of docs/ is reached from the README, directly or over others", () => {
    const reached = new Set(["README.md"]);
    for (const page of reached) {
      for (const [, target = ""] of readPage(page).matchAll(/\]\(([^()\s#]+\.md)/g)) {
        const path = join(page, "..", target).replaceAll("\\", "/");
        if (pages.includes(path)) reached.add(path);
      }
    }
    expect(pages.filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([]);
  });
});

describe("code in the docs", () => {
  test("each code block in the docs compiles where it is meant to stand", () => {
    // The code of that page is files of test/orms, which has the packages (own-packages.test.ts).
    const own = pages.filter((page) => page !== "docs/guides/orms.md");
    const blocks = own.flatMap(readBlocks).filter((block) => block.language === "ts");
    expect(blocks.length).toBeGreaterThanOrEqual(4);
    expect(checkCode(blocks)).toEqual([]);
  }, 180_000);

  test("the code of the T-SQL server's README compiles as one file", () => {
    const [first, ...others] = readBlocks("test/tsql-server/README.md").filter(
      ({ language }) => language === "ts",
    );
    expect(others).toHaveLength(1);
    const text = [first, ...others].map((block) => block?.text).join("\n");
    expect(first && checkCode([{ ...first, text }])).toEqual([]);
  }, 180_000);

  test("a mistake in it is found", () => {
    const block = readBlock("README.md", "task");
    const wrong = { ...block, text: block.text.replace("limit: 2", 'limit: "2"') };
    expect(checkCode([wrong])).toEqual([expect.stringMatching(/^README\.md:\d+ .*not assignable/)]);
  }, 180_000);

  test("a task takes at most 15 lines, a limit around a function at most 10 and its imports", () => {
    const lines = (marker: string): number =>
      readBlock("README.md", marker).text.split("\n").length;
    expect(lines("task")).toBeLessThanOrEqual(15);
    const body = readBlock("README.md", "with-tokens").text.replace(/^import .*\n+/gm, "");
    expect(body.split("\n").length).toBeLessThanOrEqual(10);
  });

  test("JSON in it can be parsed", () => {
    const blocks = pages.flatMap(readBlocks).filter((block) => block.language === "json");
    const wrong = blocks.filter(({ text }) => !isJson(text));
    expect(wrong.map(({ page, line }) => `${page}:${String(line)}`)).toEqual([]);
  });
});

describe("commands in the docs", () => {
  const texts = pages.map((page) => [page, readPage(page)] as const);

  test.each(texts)("every `npx taskgate` command of %s exists", (_, text) => {
    const named = [...text.matchAll(/npx taskgate ([a-z-]+)/g)].map((match) => match[1] ?? "");
    // A misspelt one and another program's word, to show the answers.
    const known = [
      ...commands.map((command) => command.name),
      "help",
      "version",
      "statsu",
      "retry",
    ];
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  test.each(texts)("every script of npm in %s exists", (_, text) => {
    const { scripts } = JSON.parse(readPage("package.json")) as { scripts: Record<string, string> };
    const named = [...text.matchAll(/npm (?:run (?:--silent )?([\w:]+)|(start|test)\b)/g)].map(
      (match) => match[1] ?? match[2] ?? "",
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  test.each(texts)("every file that %s names by its path exists", (_, text) => {
    const named = [...text.matchAll(/`((?:shared|functions|test|docs|infra|\.ci)\/[\w./-]+)`/g)]
      .map((match) => (match[1] ?? "").replace(/\/$/, ""))
      .filter((path) => !madeByReader.includes(path) && !path.includes("*"))
      .filter((path) => hasSample || !isOfSample(path));
    expect(
      named.filter((path) => globSync([path, `${path}/**`], { cwd: root, dot: true }).length === 0),
    ).toEqual([]);
  });
});

describe("reference pages", () => {
  test("the generated parts of reference pages are those of the code: `npm run docs`", () => {
    ensureBuilt();
    const run = (): string =>
      execFileSync(process.execPath, [join(root, ".ci/generate-docs.cjs"), "--check"], {
        encoding: "utf8",
        stdio: "pipe",
      });
    expect(run).not.toThrow();
  }, 180_000);

  test("settings.md has every setting", () => {
    const page = readPage("docs/reference/settings.md");
    expect(
      settingsTable.map((entry) => entry.name).filter((name) => !page.includes(`\`${name}\``)),
    ).toEqual([]);
  });

  test("errors.md has every code", () => {
    const page = readPage("docs/reference/errors.md");
    expect(Object.keys(errorCodes).filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
  });

  test("sql.md has the type and the default of every parameter", () => {
    const page = readPage("docs/reference/sql.md");
    const sections = page.split(/^## /m).slice(1);
    const without = sections.filter(
      (section) =>
        !/^- \*\*PostgreSQL\*\*: (`p_.+ .+`|no parameters)$/m.test(section) ||
        !/^- \*\*T-SQL\*\*: (`@.+ .+`|no parameters)$/m.test(section),
    );
    expect(without.map((section) => section.split("\n")[0])).toEqual([]);
    expect(page).toContain("`p_batch_id bigint, p_seal boolean`");
    expect(page).toContain("p_after_priority smallint default null");
    expect(page).toContain(
      "@DurationMs int = NULL, @Result nvarchar(max) = NULL, @StartId uniqueidentifier = NULL`",
    );
  });

  test("sql.md has a heading for every operation", () => {
    const page = readPage("docs/reference/sql.md");
    const names = Object.keys(operations).map(toSnakeCase);
    expect(names.filter((name) => !new RegExp(`^#{2,3} ${name}$`, "m").test(page))).toEqual([]);
  });

  test("cli.md has a heading for every command, its options, the options of all and every exit code", () => {
    const page = readPage("docs/reference/cli.md");
    const sections = new Map(
      page.split(/^## /m).map((section) => [section.split("\n")[0] ?? "", section] as const),
    );
    const missing = commands.flatMap((command) => {
      const section = sections.get(command.name) ?? "";
      const words = [
        ...command.parameters.map(showParameter),
        ...Object.keys(command.options).map((name) => `--${name}`),
      ];
      return section === ""
        ? [command.name]
        : words.filter((word) => !section.includes(word)).map((word) => `${command.name} ${word}`);
    });
    expect(missing).toEqual([]);
    for (const name of Object.keys(globalOptions)) expect(page).toContain(`\`--${name}`);
    for (const code of Object.values(exitCodes))
      expect(sections.get("Exit codes")).toContain(`| ${String(code)} `);
  });

  test("cli.md names every command that asks for a confirmation, and no other", () => {
    const asking = commands.filter(({ options }) => "yes" in options).map(({ name }) => name);
    const sentence = /these commands ask before they change anything: ([^.]+)\./.exec(
      readPage("docs/reference/cli.md"),
    )?.[1];
    const named = [...(sentence ?? "").matchAll(/`([a-z]+)\b/g)].map((match) => match[1]);
    expect(named.sort()).toEqual(asking.sort());
  });

  test("http-api.md has a row and a heading for every route of the API, and no other", () => {
    const page = readPage("docs/reference/http-api.md");
    const routes = createApiRoutes(() => Promise.reject(new Error("not asked"))).map(
      ({ methods, route }) => `${methods.join(",")} ${route}`,
    );
    expect(routes.filter((route) => !page.includes(`| \`${route}\``))).toEqual([]);
    const headings = [...page.matchAll(/^## ((?:GET|PUT|POST) .+)$/gm)].flatMap((match) =>
      (match[1] ?? "").split(", "),
    );
    expect(headings.sort()).toEqual(routes.sort());
  });

  test("the states that a list of tasks takes stand on both pages", () => {
    const text = readFileSync(join(root, "shared/core/listable-states.ts"), "utf8");
    const states = [
      ...(/listableStates = \[([^\]]+)\]/.exec(text)?.[1] ?? "").matchAll(/"(\w+)"/g),
    ].map((match) => match[1] ?? "");
    expect(states.length).toBe(7);
    for (const page of ["docs/reference/cli.md", "docs/reference/http-api.md"])
      expect([page, states.filter((state) => !readPage(page).includes(`\`${state}\``))]).toEqual([
        page,
        [],
      ]);
  });
});

/** The docs go on naming files of a sample that an app has dropped. */
function isOfSample(path: string): boolean {
  return [sampleFolder, "test/sample"].some(
    (folder) => path === folder || path.startsWith(`${folder}/`),
  );
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
