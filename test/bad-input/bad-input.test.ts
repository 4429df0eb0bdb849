import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { createApiRoutes } from "../../shared/functions/api/routes";
import type { Problem } from "../../shared/admin/read-result";
import { queueReaders } from "../../shared/admin/event-requests";
import { showParameter } from "../../shared/cli/command";
import { commands } from "../../shared/cli/commands";
import { runCli } from "../../shared/cli/main";
import { SettingsError } from "../../shared/core/errors";
import { loadSettings } from "../../shared/settings/load-settings";
import { settingsTable } from "../../shared/settings/settings";
import type { SettingEntry } from "../../shared/settings/setting-formats";
import { setupApi } from "../functions/api-setup";
import type { ApiRequest, ApiSetup } from "../functions/api-setup";
import { badValuesOf, missing } from "./bad-values";
import type { Field } from "./bad-values";
import { cliEntries } from "./command-entries";
import { httpEntries, queueEntries, taskFields } from "./entry-points";

// Goal: for any input through any public entry point, the answer names field, value and what to write instead, and
// nothing is stored. Method: bad values are generated for every field of every entry of the table.
let api: ApiSetup;
let looker: Client;
let allTables: string;
beforeAll(async () => {
  api = await setupApi();
  await api.register("known");
  looker = new Client({ connectionString: api.ownerUrl });
  await looker.connect();
  allTables = await fingerprintOfAll();
});
afterAll(async () => {
  await looker.end();
  await api.close();
});

/** Changes with any row of any table. The statement may be run by several processes of the server: its rows have no order. */
async function fingerprint(): Promise<string> {
  const { rows } = await looker.query<{ name: string; sum: string }>(allTables);
  return rows
    .map(({ name, sum }) => `${name}=${sum}`)
    .sort()
    .join("\n");
}

/** One statement over all tables: each test asks it twice. */
async function fingerprintOfAll(): Promise<string> {
  const { rows } = await looker.query<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'taskgate' and table_type = 'BASE TABLE' order by 1",
  );
  const of = (name: string): string =>
    `select '${name}' as name, count(*) || ':' || coalesce(md5(string_agg(x::text, '|' order by x::text)), '') as sum from taskgate.${name} x`;
  return rows.map(({ name }) => of(name)).join(" union all ");
}

async function expectNothingStored(body: () => Promise<void>): Promise<void> {
  const before = await fingerprint();
  await body();
  expect(await fingerprint()).toBe(before);
  expect(api.hints).toEqual([]);
}

function expectProblem(problems: readonly Problem[], field: string): void {
  // Of a value that is too deep the first steps are named, too.
  const fields = problems.map((problem) => problem.field.replace(/^(.*?\w)\[0\]\[0\].*$/, "$1"));
  // Of a list of ids the bad one is named.
  const entries = fields.map((name) => name.replace(/^(tasks)\[\d\]$/, "$1"));
  expect([...fields, ...entries]).toContain(field);
  for (const problem of problems) {
    expect(problem.value).not.toBe("");
    expect(problem.value.length).toBeLessThanOrEqual(200);
    expect(problem.expected.length).toBeGreaterThan(3);
  }
}

function withField(good: unknown, name: string, value: unknown): unknown {
  const others = Object.entries(good as object).filter(([member]) => member !== name);
  return Object.fromEntries(value === missing ? others : [...others, [name, value]]);
}

/** `taskgate` with these words against the test's database, or where the environment says. */
async function runTaskgate(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = { TASKGATE_DATABASE_URL: api.operatorUrl },
): Promise<{ code: number; out: string; error: string }> {
  const lines = { out: [] as string[], error: [] as string[] };
  const output = {
    line: (text: string) => void lines.out.push(text),
    error: (text: string) => void lines.error.push(text),
    columns: null,
  };
  const code = await runCli({ words, environment, folder: "/nowhere", output });
  return { code, out: lines.out.join("\n"), error: lines.error.join("\n") };
}

describe("the table is complete", () => {
  test("every route is in it, with every parameter of its path", () => {
    const routes = createApiRoutes(() => Promise.resolve(api.admin));
    expect(Object.keys(httpEntries).sort()).toEqual(routes.map((route) => route.name).sort());
    for (const { name, route, methods } of routes) {
      const names = [...route.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      expect(httpEntries[name]?.params.map((field) => field.name)).toEqual(names);
      expect(httpEntries[name]?.body === null).toBe(methods[0] === "GET");
    }
  });

  test("every command is in it, with every argument", () => {
    expect(Object.keys(cliEntries).sort()).toEqual(commands.map((command) => command.name).sort());
    for (const command of commands)
      expect(cliEntries[command.name]?.args).toHaveLength(command.parameters.length);
  });

  test("every option of a command that takes a value has a bad one", () => {
    for (const command of commands) {
      const options = Object.entries(command.options).filter(
        // Folders and packages are tried where there are some: test/init and test/package.
        ([, { valueName }]) => valueName !== undefined && !["DIR", "SPEC"].includes(valueName),
      );
      const words = cliEntries[command.name]?.bad.flatMap((entry) => entry.words) ?? [];
      expect(words).toEqual(expect.arrayContaining(options.map(([name]) => `--${name}`)));
    }
  });

  test("every reader of queue messages is in it", () => {
    expect(Object.keys(queueEntries).sort()).toEqual(Object.keys(queueReaders).sort());
  });

  test("every field of a task is refused under its index, too", async () => {
    for (const field of taskFields) {
      const [, value] = badValuesOf(field).at(-1) ?? ["", 0];
      const body = { tasks: [{ payload: null }, withField({ payload: null }, field.name, value)] };
      const response = await api.call({ route: "api-enqueue", params: { name: "known" }, body });
      expectProblem((response.body as { problems: Problem[] }).problems, `tasks[1].${field.name}`);
    }
  });
});

describe.each(Object.entries(httpEntries))("HTTP %s", (route, entry) => {
  const params = Object.fromEntries(
    entry.params.map(({ name }) => [name, name === "id" ? "1" : "known"]),
  );
  const good = { route, params, body: entry.body?.good };

  async function expectRefused(request: ApiRequest, field: string): Promise<void> {
    const response = await api.call(request);
    expect([400, 413]).toContain(response.status);
    expect(response.contentType).toBe("application/problem+json");
    const { problems } = response.body as { problems: Problem[] };
    expectProblem(problems, response.status === 413 ? "body" : field);
  }

  test("the route refuses bad parameters of the path", async () => {
    await expectNothingStored(async () => {
      for (const { name, ...field } of entry.params) {
        for (const [, value] of badValuesOf({ ...field, name })) {
          if (typeof value !== "string") continue;
          await expectRefused(
            { ...good, params: { ...params, [name]: value } },
            name === "id"
              ? field.kind.replace(" id", "")
              : route === "api-shared-limit"
                ? "name"
                : "definition",
          );
        }
      }
    });
  });

  test("the route refuses bad and unknown parameters of the query", async () => {
    await expectNothingStored(async () => {
      for (const field of entry.query) {
        for (const [title, value] of badValuesOf(field)) {
          // An address can't carry it: it arrives as U+FFFD.
          if (title === "half a surrogate pair") continue;
          if (typeof value === "string")
            await expectRefused({ ...good, query: { [field.name]: value } }, field.name);
        }
      }
      await expectRefused({ ...good, query: { unknown: "1" } }, "unknown");
    });
  });

  test("the route refuses bad, unknown and missing members of the body", async () => {
    const { body } = entry;
    if (body === null) return;
    await expectNothingStored(async () => {
      for (const field of body.fields) {
        for (const [, value] of badValuesOf(field)) {
          const base = field.kind === "list of tasks" ? {} : body.good;
          await expectRefused({ ...good, body: withField(base, field.name, value) }, field.name);
        }
      }
      await expectRefused({ ...good, body: withField(body.good, "unknown", 1) }, "unknown");
    });
  });

  test("the route refuses a body that isn't a JSON object", async () => {
    const { body } = entry;
    if (body === null) return;
    await expectNothingStored(async () => {
      for (const text of ["{", "nonsense", "[]", "5", '"x"', "true", "{}{}", "\u0000"]) {
        await expectRefused({ ...good, body: text }, "body");
      }
      if (body.isOptional !== true) {
        await expectRefused({ ...good, body: undefined }, "body");
        await expectRefused({ ...good, body: "null" }, "body");
      }
    });
  });
});

describe.each(Object.entries(queueEntries))("queue %s", (name, entry) => {
  const read = queueReaders[name as keyof typeof queueReaders];

  test("the queue's reader reads a good message", () => {
    expect(read(entry.good).ok).toBe(true);
    expect(read(JSON.stringify(entry.good)).ok).toBe(true);
  });

  const cases = entry.fields.flatMap((field: Field) =>
    badValuesOf(field)
      // A number stands for a name: the Functions library makes numbers of texts.
      .filter(([, value]) => !(name === "hints" && typeof value === "number"))
      .map(([title, value]) => [field.name, title, value] as const),
  );
  test.each(cases)("the queue's reader refuses %s: %s", (field, _, value) => {
    const result = read(withField(entry.good, field, value));
    expectProblem(result.ok ? [] : result.problems, field);
  });

  test("the queue's reader refuses unknown members and what isn't an object", () => {
    const unknown = read(withField(entry.good, "unknown", 1));
    expectProblem(unknown.ok ? [] : unknown.problems, "unknown");
    for (const message of [null, undefined, true, [], "{", '"', "", NaN, Symbol("x")]) {
      const result = read(message);
      expectProblem(result.ok ? [] : result.problems, "message");
    }
  });
});

describe.each(settingsTable.map((entry): [string, SettingEntry] => [entry.name, entry]))(
  "setting %s",
  (name, entry) => {
    const required = { TASKGATE_DATABASE_URL: "postgres://u:p@h/d" };

    test.each(badSettingValues(entry))("the setting refuses %j", (value) => {
      const problems = problemsOf({ ...required, [name]: value });
      const problem = problems.find((candidate) => candidate.startsWith(`${name}: expected `));
      expect(problem).toBeDefined();
      expect(problem).toMatch(/, got a value of \d+ characters? that is not shown$/);
    });

    test("a misspelt name is refused", () => {
      if (!name.startsWith("TASKGATE_")) return;
      const wrong = `${name.slice(0, -2)}XX`;
      expect(problemsOf({ ...required, [wrong]: "1" }).join("\n")).toContain(
        `${wrong}: expected the name of a setting`,
      );
    });
  },
);

describe.each(Object.entries(cliEntries))("taskgate %s", (name, entry) => {
  async function expectRefused(
    words: readonly string[],
    field: string,
    environment?: Readonly<Record<string, string>>,
  ): Promise<void> {
    const { code, out, error } = await runTaskgate([...words, "--json"], environment);
    expect([2, 3]).toContain(code);
    expect(out).toBe("");
    const parsed = JSON.parse(error) as { error: { problems: Problem[] } };
    expectProblem(parsed.error.problems, field);
  }

  test("the command refuses bad arguments and options", async () => {
    await expectNothingStored(async () => {
      for (const { words, field } of entry.bad) await expectRefused([name, ...words], field);
      await expectRefused([name, ...entry.args, "--unknown"], "option");
      await expectRefused([name, ...entry.args, "one-too-many"], entry.listField ?? "argument");
      await expectRefused([name, ...entry.args, "--json=yes"], "--json");
      const first = commands.find((candidate) => candidate.name === name)?.parameters[0];
      if (first !== undefined && first.isOptional !== true)
        await expectRefused([name], showParameter(first));
    });
  });

  test("the command refuses the same by an app's address, or refuses the address", async () => {
    const { worksOn } = commands.find((candidate) => candidate.name === name) ?? {};
    const url = await api.appUrl();
    await expectNothingStored(async () => {
      if (worksOn !== undefined) {
        await expectRefused([name, ...entry.args, "--url", url], "--url");
        return;
      }
      const environment = { TASKGATE_URL: url };
      for (const { words, field } of entry.bad)
        await expectRefused([name, ...words], field, environment);
      await expectRefused([name, ...entry.args, "one-too-many"], entry.listField ?? "argument", {
        TASKGATE_URL: url,
      });
    });
  });

  test.each([
    "",
    "nonsense",
    "ftp://app.example",
    "http://app.example",
    "https://u:p@app.example",
    "https://app.example/api?code=secret-7",
    "https://app.example/#a",
    `https://${"x".repeat(2_000)}`,
  ])("the command refuses the app `%s`", async (url) => {
    const { code, error } = await runTaskgate([name, ...entry.args, `--url=${url}`], {});
    const { worksOn } = commands.find((candidate) => candidate.name === name) ?? {};
    if (entry.isOffline === true && worksOn === undefined) return;
    expect(code).toBe(2);
    expect(error).toMatch(/--url: got an(other text| address), expected /);
    expect(error).not.toContain("secret-7");
  });

  test("the command says the same to people, on standard error", async () => {
    const { code, out, error } = await runTaskgate([name, ...entry.args, "--unknown"]);
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(error).toMatch(/^taskgate: option: got `--unknown`, expected /);
  });

  test.each(["", "nonsense", "mysql://u:p@h/d", "postgres://h"])(
    "the command refuses the database `%s`",
    async (url) => {
      if (entry.isOffline === true) return;
      const { code, error } = await runTaskgate([name, ...entry.args, `--db=${url}`]);
      expect(code).toBe(2);
      expect(error).toContain("--db: got");
    },
  );
});

function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    loadSettings(environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

function badSettingValues(entry: SettingEntry): string[] {
  if (entry.type === "integer") {
    const outside = [entry.min - 1, entry.max + 1].map(String);
    return ["abc", "1.5", "1e3", " 5", "0x10", "-", ...outside];
  }
  const tooLong = "x".repeat(entry.max + 1);
  const common = [tooLong, " a", "a b\n"];
  const ofType: Partial<Record<SettingEntry["type"], string[]>> = {
    "database-url": ["nonsense", "mysql://u:p@h/d", "postgres://h", "postgres:///d"],
    host: ["https://a.b", "a.b:1433", "a..b", "-a"],
    schema: ["Taskgate", "1a", 'a"b'],
    schedule: ["* * * * *", "60 * * * * *", "00:00:30"],
    "queue-name": ["ab", "Upper", "a--b", "-ab"],
    guid: ["17"],
    "storage-connection": ["AccountName=a"],
    "insights-connection": ["IngestionEndpoint=https://x/"],
    "insights-authentication": ["foo", "Authorization=ADD", "Authorization=AAD;ClientId=me"],
    "https-url": ["http://a", "a"],
    "account-name": ["ab", "a-b"],
    choice: ["Nonsense"],
  };
  return [...common, ...(ofType[entry.type] ?? [])];
}
