import { resolve } from "node:path";
import { expect, test } from "@jest/globals";
import { commands } from "../../../shared/cli/commands";
import { readStartOptions } from "../../../shared/cli/dev";
import { parseCommandLine } from "../../../shared/cli/parse-arguments";
import type { StartOptions } from "../../../shared/local/start-options";
import { InvalidArgumentError } from "../../../shared/core/errors";

const defaults: StartOptions = {
  appRoot: resolve("/home/me/app"),
  isOnce: false,
  isWithoutSample: false,
  keepsData: false,
  isFast: false,
  isJson: false,
  databaseUrl: null,
  port: 7_071,
  limit: null,
  hosts: 1,
  home: resolve("/home/me/app"),
};

/** The options of `taskgate dev` with these words, or the sentence that refuses them. */
function read(...words: string[]): StartOptions | string {
  try {
    const parsed = parseCommandLine(["dev", ...words], commands);
    if (parsed.kind === "help") return "help";
    return readStartOptions({ ...parsed, folder: "/home/me/app" });
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.message;
    throw error;
  }
}

test("taskgate dev without options takes the app of the current folder and the defaults", () => {
  expect(read()).toEqual(defaults);
});

test("taskgate dev takes every option, with values behind a blank or a =", () => {
  const words = ["--once", "--keep", "--db=mssql://sa:x@db:1433/tasks", "--port", "8080"];
  const more = ["--json", "--limit=0", "--hosts", "3", "--home=../data", "--app", "/apps/billing"];
  expect(read(...words, ...more)).toEqual({
    appRoot: resolve("/apps/billing"),
    isOnce: true,
    isWithoutSample: false,
    keepsData: true,
    isFast: false,
    isJson: true,
    databaseUrl: "mssql://sa:x@db:1433/tasks",
    port: 8_080,
    limit: 0,
    hosts: 3,
    home: resolve("/home/me/data"),
  });
  expect(read("--no-sample", "--hosts", "0", "--fast")).toEqual({
    ...defaults,
    isWithoutSample: true,
    hosts: 0,
    isFast: true,
  });
});

test.each([
  [["--onec"], "option: got `--onec`, expected an option of `dev`. Did you mean `--once`?"],
  [["--port"], "--port: got nothing, expected a value: --port N"],
  [["--port", "70000"], "--port: got `70000`, expected a whole number in 1..65535"],
  [["--limit", "-1"], "--limit: got `-1`, expected a whole number in 0..1000"],
  [["--hosts", "1.5"], "--hosts: got `1.5`, expected a whole number in 0..8"],
  [
    ["--db", "mysql://x/y"],
    "--db: got something else, expected postgres://user:password@host:port/database or mssql://..",
  ],
  [["--fast", "--db", "postgres://u:p@h/d"], "--fast: got set, expected no --db beside it"],
  [["--no-sample", "--once"], "--once: got set, expected no --no-sample beside it"],
  [["--no-sample", "--limit", "3"], "--limit: got set, expected no --no-sample beside it"],
])("taskgate dev refuses %j with a sentence", (words, problem) => {
  expect(read(...words)).toContain(problem);
});

test("taskgate dev tells all problems at once", () => {
  const message = read("--port", "x", "--limit", "y");
  expect(message).toContain("--port: got `x`");
  expect(message).toContain("--limit: got `y`");
});

test("the help of taskgate dev tells the exit code of every end", () => {
  const { details = "" } = commands.find(({ name }) => name === "dev") ?? {};
  expect(details.split("\n").at(-1)).toBe(
    "Exit code: 0 after q or Ctrl-C, the usual end of a run. 130 when Ctrl-C breaks off the start or a run with --once, or comes twice. 143 or 129 after SIGTERM or SIGHUP.",
  );
});
