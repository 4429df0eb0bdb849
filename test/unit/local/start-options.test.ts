import { expect, test } from "@jest/globals";
import { parseStartArguments, startHelp } from "../../../shared/local/start-options";

const defaults = {
  isOnce: false,
  isWithoutSample: false,
  keepsData: false,
  isFast: false,
  databaseUrl: null,
  port: 7_071,
  limit: null,
  hosts: 1,
  home: "/home/me",
};

test("nothing given means the defaults", () => {
  expect(parseStartArguments([], "/home/me")).toEqual({ kind: "start", options: defaults });
});

test("all options, with values behind a blank or a =", () => {
  const args = [
    "--once",
    "--keep",
    "--db=mssql://sa:x@db:1433/tasks",
    "--port",
    "8080",
    "--limit=0",
  ];

  const parsed = parseStartArguments([...args, "--hosts", "3", "--home=/data"], "/home/me");

  const options = {
    ...defaults,
    isOnce: true,
    keepsData: true,
    port: 8_080,
    limit: 0,
    hosts: 3,
    home: "/data",
  };
  expect(parsed).toEqual({
    kind: "start",
    options: { ...options, databaseUrl: "mssql://sa:x@db:1433/tasks" },
  });
});

test.each([
  [["--onec"], "There is no option `--onec`. Did you mean `--once`?"],
  [["once"], "There is no option `once`. Did you mean `--once`?"],
  [["--xyzzy=1"], "There is no option `--xyzzy`."],
  [["--once=yes"], "--once takes no value, got `yes`."],
  [["--port"], "--port wants a value."],
  [["--port", "70000"], "--port: expected a whole number in 1..65535, got `70000`."],
  [["--limit", "-1"], "--limit: expected a whole number in 0..1000, got `-1`."],
  [["--hosts", "1.5"], "--hosts: expected a whole number in 1..8, got `1.5`."],
  [
    ["--db", "mysql://x/y"],
    "--db: expected postgres://user:password@host:port/database or mssql://..",
  ],
])("%j is refused", (args, problem) => {
  expect(parseStartArguments(args, "/home/me")).toEqual({ kind: "wrong", problem });
});

test("without the sample there is no end and no paced limit", () => {
  const parsed = parseStartArguments(["--no-sample", "--hosts", "2"], "/home/me");
  expect(parsed).toEqual({
    kind: "start",
    options: { ...defaults, isWithoutSample: true, hosts: 2 },
  });
  for (const other of [["--once"], ["--limit", "3"]])
    expect(parseStartArguments(["--no-sample", ...other], "/home/me")).toEqual({
      kind: "wrong",
      problem: `${other[0] ?? ""} is about the sample: leave it out, or leave out --no-sample.`,
    });
});

test("only the embedded PostgreSQL can be told not to wait for the disk", () => {
  expect(parseStartArguments(["--fast"], "/home/me")).toEqual({
    kind: "start",
    options: { ...defaults, isFast: true },
  });
  expect(parseStartArguments(["--fast", "--db", "postgres://u:p@h/d"], "/home/me")).toEqual({
    kind: "wrong",
    problem: "--fast is about the embedded PostgreSQL: leave it out, or leave out --db.",
  });
});

test("all problems are told at once", () => {
  const parsed = parseStartArguments(["--port", "x", "--limit", "y"], "/home/me");

  expect(parsed.kind === "wrong" ? parsed.problem.split("\n") : []).toHaveLength(2);
});

test("help wins, and names every option", () => {
  expect(parseStartArguments(["--once", "--help"], "/home/me")).toEqual({ kind: "help" });
  for (const name of [
    "--once",
    "--keep",
    "--fast",
    "--db",
    "--port",
    "--limit",
    "--hosts",
    "--home",
  ]) {
    expect(startHelp).toContain(`  ${name} `);
  }
});
