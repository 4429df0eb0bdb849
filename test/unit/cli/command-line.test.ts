import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { InvalidArgumentError, SettingsError } from "../../../shared/core/errors";
import { renderCommandHelp, renderHelp } from "../../../shared/cli/help";
import { commands } from "../../../shared/cli/commands";
import { runCli } from "../../../shared/cli/main";
import { renderFacts, renderTable } from "../../../shared/terminal/output";
import { asksForJson, globalOptions, parseCommandLine } from "../../../shared/cli/parse-arguments";
import { commandSynonyms } from "../../../shared/cli/synonyms";
import { describeWork } from "../../../shared/cli/status";
import { findApp } from "../../../shared/cli/app-target";
import { findTarget } from "../../../shared/cli/target";

function messageOf(words: string[]): string {
  try {
    parseCommandLine(words, commands);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error.message;
    throw error;
  }
  return "";
}

describe("the command line", () => {
  test("the command line gives arguments, options and flags", () => {
    expect(
      parseCommandLine(["tasks", "a", "--state=dead", "--json", "--max", "5"], commands),
    ).toMatchObject({
      kind: "run",
      command: { name: "tasks" },
      args: ["a"],
      options: { max: "5" },
      lists: { state: ["dead"] },
      flags: new Set(["json"]),
    });
  });

  test("the command line takes what follows -- as arguments, and - as a value", () => {
    expect(parseCommandLine(["pause", "--", "--odd-name"], commands)).toMatchObject({
      args: ["--odd-name"],
    });
    expect(parseCommandLine(["enqueue", "a", "--file", "-"], commands)).toMatchObject({
      options: { file: "-" },
    });
  });

  test("the command line reads every word, however many there are: the option behind a thousand ids decides the database", () => {
    const ids = Array.from({ length: 1_200 }, (_, at) => String(at + 1));
    expect(parseCommandLine(["cancel", ...ids, "--db", "postgres://x"], commands)).toMatchObject({
      args: ids,
      options: { db: "postgres://x" },
    });
  });

  test("the command line takes a former name of an option as its name, and the help has the name alone", () => {
    const words = ["enqueue", "a", "--from", "-", "--key", "id"];
    const { options } = parseCommandLine(words, commands) as { options: object };
    expect(options).toEqual({ from: "-", "key-field": "id" });
    expect(messageOf([...words, "--key-field=id"])).toContain("--key-field: got `id`, expected to");
    const enqueue = commands.find(({ name }) => name === "enqueue");
    const help = enqueue === undefined ? "" : renderCommandHelp(enqueue);
    expect([help.includes("--key-field FIELD"), help.includes("--key FIELD")]).toEqual([
      true,
      false,
    ]);
  });

  test("an option may start with a hyphen when it is joined", () => {
    expect(parseCommandLine(["enqueue", "a", "--priority=-5"], commands)).toMatchObject({
      options: { priority: "-5" },
    });
  });

  test("options of every command may stand before it, and short ones may be joined", () => {
    const words = ["--json", "--timeout", "5s", "--db=x", "executions", "-an5"];
    expect(parseCommandLine(words, commands)).toMatchObject({
      command: { name: "executions" },
      options: { timeout: "5s", db: "x", max: "5" },
      flags: new Set(["json", "all"]),
    });
    expect(parseCommandLine(["--help", "limit"], commands)).toMatchObject({
      kind: "help",
      command: { name: "limit" },
    });
    expect(parseCommandLine(["-V"], commands)).toMatchObject({ command: { name: "version" } });
  });

  test("--json behind -- is an argument", () => {
    expect(asksForJson(["status", "--json"])).toBe(true);
    expect(asksForJson(["pause", "--", "--json"])).toBe(false);
  });

  test("every word of another program leads to a command line that can be used", () => {
    const lines = Object.values(commandSynonyms).flat();
    for (const line of lines) {
      const [name, ...rest] = line.split(" ");
      const command = commands.find((candidate) => candidate.name === name);
      const options = Object.keys({ ...command?.options, ...globalOptions });
      const used = rest.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
      expect([line, command?.name, used.filter((word) => !options.includes(word))]).toEqual([
        line,
        name,
        [],
      ]);
    }
    for (const word of Object.keys(commandSynonyms))
      expect(commands.map(({ name }) => name)).not.toContain(word);
  });

  test("a command is taken by its short name too, which no other command or suggestion has", () => {
    expect(parseCommandLine(["stats", "greet", "--window", "day"], commands)).toMatchObject({
      kind: "run",
      command: { name: "statistics" },
      args: ["greet"],
      options: { window: "day" },
    });
    const help = parseCommandLine(["help", "stats"], commands);
    expect(help).toMatchObject({ kind: "help", command: { name: "statistics" } });
    if (help.kind !== "help" || help.command === null) throw new Error("help on a command");
    expect(renderCommandHelp(help.command)).toContain("Also: taskgate stats");
    const words = commands.flatMap(({ name, alias }) => [
      name,
      ...(alias === undefined ? [] : [alias]),
    ]);
    expect(new Set(words).size).toBe(words.length);
    expect(words.filter((word) => Object.hasOwn(commandSynonyms, word))).toEqual([]);
  });

  test.each([[[]], [["help"]], [["--help"]], [["-h"]]])("%j asks for help", (words) => {
    expect(parseCommandLine(words, commands)).toEqual({ kind: "help", command: null });
  });

  test.each([[["help", "limit"]], [["limit", "--help"]], [["limit", "-h"]]])(
    "%j asks for help on it",
    (words) => {
      expect(parseCommandLine(words, commands)).toMatchObject({
        kind: "help",
        command: { name: "limit" },
      });
    },
  );

  test.each([
    [["stauts"], "command: got `stauts`, expected a command. Did you mean `status`?"],
    [
      ["frobnicate"],
      "command: got `frobnicate`, expected one of status, top, statistics, definitions,",
    ],
    [["tasks", "a", "--sate", "dead"], "Did you mean `--state`?"],
    [
      ["status", "--verbose"],
      "option: got `--verbose`, expected one of --watch, --every, --db, --url, --timeout, --json, --no-color, --help",
    ],
    [["tasks"], "NAME: got nothing, expected an argument, as in `taskgate tasks NAME`"],
    [["status", "now"], "argument: got `now`, expected no argument"],
    [["pause", "a", "b"], "argument: got `b`, expected 1 argument, as in"],
    [["status", "--db"], "--db: got nothing, expected a value: --db URL"],
    [["status", "--db", "--json"], "--db: got nothing, expected a value"],
    [["status", "--json=yes"], "--json: got `yes`, expected no value"],
    [["tasks", "a", "--max", "1", "--max", "2"], "--max: got `2`, expected to be given once"],
    [["status", "--__proto__"], "option: got `--__proto__`"],
    [["constructor"], "command: got `constructor`"],
  ])("%j is refused", (words, message) => {
    expect(messageOf(words)).toContain(message);
  });

  test("every command and option is in the help", () => {
    const help = renderHelp(commands);
    for (const command of commands) {
      expect(help).toContain(`\n  ${command.name}`);
      for (const option of Object.keys(command.options))
        expect(renderCommandHelp(command)).toContain(`--${option}`);
    }
    expect(help).toContain("Exit codes: 0 done");
  });
});

describe("help for programs", () => {
  /** The JSON document that the program prints. */
  async function helpOf(...words: string[]): Promise<Record<string, unknown>> {
    const lines: string[] = [];
    const line = (text: string): void => void lines.push(text);
    const output = { line, error: line, columns: null };
    const code = await runCli({ words, environment: {}, folder: "/nowhere", output });
    expect({ code, documents: lines.length }).toEqual({ code: 0, documents: 1 });
    return JSON.parse(lines.join("")) as Record<string, unknown>;
  }

  test("the help for programs is a JSON document with every command and option", async () => {
    const { commands: told } = await helpOf("help", "--json");
    expect(told).toHaveLength(commands.length);
    expect(await helpOf("--json", "--help")).toEqual(await helpOf("help", "--json"));
  });

  test("the help of a command has its options, arguments and examples", async () => {
    const help = await helpOf("help", "tasks", "--json");
    expect(help).toMatchObject({
      name: "tasks",
      usage: expect.stringMatching(/^tasks /),
      options: expect.arrayContaining([
        expect.objectContaining({ name: "--state", short: "-s", isList: true }),
      ]),
      exitCodes: { ok: 0, unreachable: 4 },
    });
  });
});

describe("taskgate work", () => {
  test.each([
    [["--poll", "5"], "--poll: got `5`, expected a time of 100ms to 10m"],
    [["--poll", "11m"], "--poll: got `11m`, expected a time of 100ms to 10m"],
    [
      ["--app", "nothing"],
      `--app: got \`${resolve("/nowhere/nothing")}\`, expected the folder of an app`,
    ],
  ])("taskgate work refuses %j with 2", async (words, message) => {
    const errors: string[] = [];
    const output = {
      line: () => undefined,
      error: (text: string) => void errors.push(text),
      columns: null,
    };
    const environment = { TASKGATE_DATABASE_URL: "postgres://localhost:1/none" };
    const options = { environment, folder: "/nowhere", output };
    expect(await runCli({ ...options, words: ["work", ...words] })).toBe(2);
    expect(errors.join("\n")).toContain(message);
  });
});

describe("counts in sentences", () => {
  const totals = {
    definitions: 2,
    paused: 0,
    executions: 1,
    held: 1,
    ready: 3,
    scheduled: 1,
    waiting: 0,
    claimed: 1,
    running: 1,
    prefetched: 0,
    dead: 0,
  };

  test("a count of one is singular, none and several are plural, and only a count that stopped says so", () => {
    expect(describeWork({ totals, nextDueMs: 59_000, expired: 1 })).toBe(
      "1 execution runs 1 task; 3 ready, 1 scheduled, 0 waiting for a group, 0 dead; next due in 59 s, 1 execution past its lease",
    );
    const many = { ...totals, executions: 0, running: 10_501, ready: 10_000, prefetched: 2 };
    expect(describeWork({ totals: many, nextDueMs: null, expired: 2 })).toBe(
      "0 executions run 10501 tasks, 2 prefetched; 10000+ ready, 1 scheduled, 0 waiting for a group, 0 dead; nothing scheduled, 2 executions past their lease",
    );
  });
});

describe("the target", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "taskgate-cli-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const writeLocal = (text: string): void => {
    mkdirSync(join(folder, ".taskgate"));
    writeFileSync(join(folder, ".taskgate", "local.json"), text);
  };
  const local = {
    databaseUrl: "postgres://dev@127.0.0.1:5432/postgres",
    queueConnection: "UseDevelopmentStorage=true",
    url: "http://127.0.0.1:7071",
    pid: process.pid,
  };
  const find = (databaseUrl: string | undefined, environment: Record<string, string>) =>
    findTarget({ databaseUrl, environment, folder });

  test("the target is --db before the environment before the local run", () => {
    writeLocal(JSON.stringify(local));
    const environment = { TASKGATE_DATABASE_URL: "postgres://a@b/c" };

    expect(find("postgres://x@y/z", environment)).toMatchObject({
      origin: "--db",
      settings: { database: { url: "postgres://x@y/z" } },
    });
    expect(find(undefined, environment).origin).toBe("TASKGATE_DATABASE_URL");
    expect(find(undefined, {})).toMatchObject({
      origin: ".taskgate/local.json",
      settings: {
        database: { url: local.databaseUrl },
        storage: { connectionString: local.queueConnection },
      },
    });
  });

  test("the local run's queue serves only its own database", () => {
    writeLocal(JSON.stringify(local));
    expect(find("postgres://x@y/z", {}).settings.storage).toBeNull();
    expect(find(local.databaseUrl, {}).settings.storage).not.toBeNull();
  });

  test("a run that was killed is said to have ended, not to refuse connections", () => {
    const { pid } = spawnSync(process.execPath, ["-e", ""]);
    writeLocal(JSON.stringify({ ...local, pid }));
    expect(() => find(undefined, {})).toThrow(
      `.taskgate/local.json: expected a run that is alive, got that of process ${String(pid)}, which has ended. Run \`taskgate dev\` again`,
    );
    expect(find("postgres://x@y/z", {}).origin).toBe("--db");
    // Numbers that would ask for whole groups of processes.
    for (const strange of [0, -1, 1.5, "1"]) {
      writeFileSync(
        join(folder, ".taskgate", "local.json"),
        JSON.stringify({ ...local, pid: strange }),
      );
      expect(find(undefined, {}).origin).toBe(".taskgate/local.json");
    }
  });

  test("--db replaces a server with an identity", () => {
    const environment = { TASKGATE_SQL_SERVER: "a.b", TASKGATE_SQL_DATABASE: "c" };
    expect(find("postgres://x@y/z", environment).settings.database.kind).toBe("url");
    expect(find(undefined, environment)).toMatchObject({
      origin: "TASKGATE_SQL_SERVER",
      settings: { database: { kind: "identity" } },
    });
  });

  test("a command without any target says what to do", () => {
    expect(() => find(undefined, {})).toThrow(
      /Give --db postgres:\/\/.., set TASKGATE_DATABASE_URL, or run `taskgate dev`/,
    );
  });

  test.each(["", "[]", "{", '{"databaseUrl":5}'])(
    "a damaged file `%s` is said to be one",
    (text) => {
      writeLocal(text);
      expect(() => find(undefined, {})).toThrow(SettingsError);
    },
  );
});

describe("the app in place of a database", () => {
  const url = "https://app.example";
  const find = (options: Partial<Parameters<typeof findApp>[0]>) =>
    findApp({ url: undefined, databaseUrl: undefined, environment: {}, ...options });
  const database = { TASKGATE_DATABASE_URL: "postgres://a@b/c" };

  test("the app's address is --url before everything, and TASKGATE_URL behind each way to name a database", () => {
    expect(find({ url, environment: database })).toMatchObject({ origin: "--url" });
    const environment = { TASKGATE_URL: "https://other.example" };
    expect(find({ url, environment })?.base).toBe("https://app.example/api");
    expect(find({ environment })).toMatchObject({
      base: "https://other.example/api",
      origin: "TASKGATE_URL",
    });
    expect(find({ environment: { ...environment, ...database } })).toBeNull();
    const identity = { TASKGATE_SQL_SERVER: "a.b", TASKGATE_SQL_DATABASE: "c" };
    expect(find({ environment: { ...environment, ...identity } })).toBeNull();
    expect(find({ environment, databaseUrl: "postgres://a@b/c" })).toBeNull();
    expect(find({})).toBeNull();
    // An empty text counts as not set.
    expect(find({ environment: { TASKGATE_URL: "" } })).toBeNull();
    expect(find({ environment: { ...environment, TASKGATE_DATABASE_URL: "" } })).not.toBeNull();
  });

  test("the app's address is refused beside --db", () => {
    expect(() => find({ url, databaseUrl: "postgres://a@b/c" })).toThrow(
      "--url: got two addresses, expected either --url or --db, not both",
    );
  });

  test.each([
    ["https://app.example", "https://app.example/api"],
    ["https://app.example/", "https://app.example/api"],
    ["https://APP.example:8443", "https://app.example:8443/api"],
    ["https://app.example/api/taskgate", "https://app.example/api/taskgate"],
    ["https://app.example/gate//", "https://app.example/gate"],
    ["http://127.0.0.1:7071", "http://127.0.0.1:7071/api"],
    ["http://localhost:7071", "http://localhost:7071/api"],
    ["http://[::1]:7071", "http://[::1]:7071/api"],
  ])("%s has its routes at %s", (given, base) => {
    expect(find({ url: given })?.base).toBe(base);
  });

  test.each([
    "http://10.0.0.1",
    "http://localhost.example",
    "http://128.0.0.1",
    "http://127.example",
  ])("%s is refused: a key would travel in the clear", (given) => {
    expect(() => find({ url: given })).toThrow(/http:\/\/ is for this machine only/);
  });

  test("the app's address gets its secrets from the environment alone", () => {
    const secrets = { TASKGATE_FUNCTION_KEY: "k-1==", TASKGATE_TOKEN: "a.b-c_d" };
    expect(find({ url, environment: secrets })?.signIn).toEqual({ key: "k-1==", token: "a.b-c_d" });
    expect(find({ url })?.signIn).toEqual({ key: null, token: null });
    const wrong = { TASKGATE_FUNCTION_KEY: "k 1", TASKGATE_TOKEN: "x".repeat(12_001) };
    expect(() => find({ url, environment: wrong })).toThrow(
      /TASKGATE_FUNCTION_KEY: expected .* got a value of 3 characters that is not shown\n- TASKGATE_TOKEN: .* 12001 characters/,
    );
  });
});

describe("tables", () => {
  const columns = [
    { title: "name", value: (row: { name: string }) => row.name },
    { title: "length", value: (row: { name: string }) => String(row.name.length), isNumber: true },
  ];

  test("align texts left and numbers right, without blanks at the ends", () => {
    expect(renderTable([{ name: "a" }, { name: "resize-image" }], columns, { columns: null })).toBe(
      ["NAME          LENGTH", "a                  1", "resize-image      12"].join("\n"),
    );
  });

  test("a table is cut at the terminal's width", () => {
    expect(renderTable([{ name: "resize-image" }], columns, { columns: 10 }).split("\n")).toEqual([
      "NAME    ..",
      "resize....",
    ]);
    expect(renderFacts([["name", "resize-image"]], 12)).toBe("name  resi..");
  });
});
