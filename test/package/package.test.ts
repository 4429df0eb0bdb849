import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startAzurite } from "../../shared/local/azurite";
import type { Azurite } from "../../shared/local/azurite";
import type { HostChild } from "../../shared/local/host-children";
import type * as HostChildren from "../../shared/local/host-children";
import { sleep } from "../../shared/platform/real-clock";
import { testBlocksRan } from "../docs/run-blocks";
import { ensureBuilt, root } from "../functions/built-app";
import { createEmptyDatabase } from "../migration/empty-database";
import { urlAs } from "../support/roles";
import { isWhole } from "../support/whole";
import { addLimit, overlapVariable, partnerLimit, writeInitApp, writeModuleApp } from "./apps";
import type { ExistingApp } from "./apps";
import { describeBundle } from "./bundle-suite";
import { describeDev } from "./dev-suite";
import { describeEject } from "./eject-suite";
import { describeInit } from "./init-suite";
import { installedBytes, packInto, readManifest, run } from "./packed";
import type { Packed } from "./packed";

/*
 * Goal: an app that exists installs the package and has a cap around its function. The package is packed as it is
 * published, and installed by npm into an app as `func init` makes it; a strict app of ES modules shares that installation.
 */
const folder = mkdtempSync(join(tmpdir(), "taskgate-package-"));
const installed = join(folder, "billing", "node_modules", "taskgate");
const megabyte = 1_000_000;
/** The oldest compiler that is served. */
const oldestCompiler = "5.0.4";
let packed: Packed;
let apps: readonly [init: ExistingApp, modules: ExistingApp];

const npmOptions = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];

beforeAll(async () => {
  const init = writeInitApp(join(folder, "billing"), {
    "typescript-oldest": `npm:typescript@${oldestCompiler}`,
  });
  // The app is there, with its packages, before Taskgate is.
  [packed] = await Promise.all([
    packInto(folder),
    run("npm", ["install", ...npmOptions], { cwd: init.folder }),
  ]);
  const driver = `pg@${oldestDriver()}`;
  await run("npm", ["install", ...npmOptions, packed.file, driver], { cwd: init.folder });
  const modules = writeModuleApp(join(folder, "shipping"), join(folder, "billing", "node_modules"));
  apps = [init, modules];
  for (const app of apps) addLimit(app);
}, 240_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The oldest version of the PostgreSQL driver that the package allows. */
function oldestDriver(): string {
  return (readManifest(join(folder, "package")).peerDependencies["pg"] ?? "").replace("^", "");
}

describe("the package", () => {
  test("the package has the doors of the repository, each with its types for every way of resolving modules", () => {
    const own = readManifest(root);
    const made = readManifest(installed);
    const place = (path: string): string => path.replace(/^(?:\.\/)?dist\/shared\//, "./lib/");
    const doors = Object.entries(own.exports).map(([door, target]) => {
      if (typeof target !== "string") throw new Error(`${door}: expected a path`);
      if (!target.endsWith(".js")) return [door, target];
      const file = place(target);
      return [door, { types: file.replace(/\.js$/, ".d.ts"), default: file }];
    });
    expect(made.exports).toEqual(Object.fromEntries(doors));
    expect({ default: made.main, types: made.types }).toEqual(made.exports["."]);
    const olderCompilers = Object.entries(made.exports)
      .filter(([door, target]) => door !== "." && typeof target !== "string")
      .map(([door, target]) => [door.slice(2), [(target as { types: string }).types]] as const);
    expect(made.typesVersions).toEqual({ "*": Object.fromEntries(olderCompilers) });
    expect(made.bin).toEqual(
      Object.fromEntries(Object.entries(own.bin).map(([name, file]) => [name, place(file)])),
    );
  });

  test("the package runs nothing when it is installed and brings no development package", () => {
    const manifest = readManifest(installed);
    expect(manifest.scripts).toBeUndefined();
    expect(manifest.devDependencies).toBeUndefined();
    const { "@azure/functions": functions, ...optional } = manifest.peerDependencies;
    expect(functions).toBeDefined();
    expect(manifest.peerDependenciesMeta).toEqual(
      Object.fromEntries(Object.keys(optional).map((name) => [name, { optional: true }])),
    );
    expect(Object.keys(optional)).toEqual(
      expect.arrayContaining(["mssql", "tedious", "pg", "applicationinsights", "@azure/identity"]),
    );
  });

  test("the package is small, and holds no test and no source but the sample of a template, in one file", () => {
    expect(packed.size).toBeLessThan(1.5 * megabyte);
    expect(packed.files.length).toBeLessThanOrEqual(300);
    const strange = packed.files.filter(
      (file) =>
        !/^(?:lib\/.+\.(?:js|d\.ts|sql|css|html)|lib\/init\/flights\.json|package\.json|README\.md|LICENSE|LICENCES\.txt)$/.test(
          file,
        ),
    );
    expect(strange).toEqual([]);
    expect(packed.files.filter((file) => /test\.|\/tasks\/|source-texts/.test(file))).toEqual([]);
    const sql = packed.files.filter((file) => file.endsWith("all.sql"));
    expect(sql).toEqual(["lib/store/mssql/sql/all.sql", "lib/store/postgres/sql/all.sql"]);
  });

  test("the package adds at most 40 MB to an app that has @azure/functions", () => {
    expect(installedBytes(apps[0].folder, "taskgate")).toBeLessThan(40 * megabyte);
  });

  test("the package names the licence of each package whose code it holds", () => {
    const text = readFileSync(join(installed, "LICENCES.txt"), "utf8");
    expect(text).toMatch(/^@azure\/storage-queue \d\S* \(MIT\)$/m);
    expect(
      text.match(/^\S+ \d+\.\d+\.\d+\S* \((?!MIT|Apache-2.0|ISC|0BSD|BSD-[23]-Clause)/gm),
    ).toBe(null);
  });
});

describe("the doors", () => {
  /** Runs a program in the strict app, or in the other, and reads its `answer`. */
  async function ask(script: string, kind: "module" | "commonjs" = "commonjs"): Promise<unknown> {
    const args = [
      `--input-type=${kind}`,
      "--eval",
      `${script}; process.stdout.write(JSON.stringify(answer));`,
    ];
    const [init, modules] = apps;
    const cwd = kind === "module" ? modules.folder : init.folder;
    return JSON.parse(await run(process.execPath, args, { cwd }));
  }

  test("the doors give ES modules their names, and one class of an error to all", async () => {
    const script = `
      import { InvalidArgumentError, defineTask } from "taskgate";
      import { TestBench } from "taskgate/testing";
      import { taskgate } from "taskgate/functions";
      import { createRequire } from "node:module";
      const required = createRequire(import.meta.url)("taskgate");
      const kind = defineTask({ name: "twice", run: async () => null });
      let refused;
      try { new TestBench([kind, kind]); } catch (error) { refused = error; }
      const answer = {
        names: [typeof defineTask, typeof TestBench, typeof taskgate],
        isOne: refused instanceof InvalidArgumentError && refused instanceof required.InvalidArgumentError,
      };`;
    expect(await ask(script, "module")).toEqual({
      names: ["function", "function", "function"],
      isOne: true,
    });
  });

  test("the doors load no driver and no telemetry when they are imported", async () => {
    const loadedBy = (door: string): Promise<unknown> =>
      ask(`require("${door}");
        const names = Object.keys(require.cache)
          .flatMap((path) => path.match(/(?<=node_modules\\/)(?:@[^/]+\\/)?[^/]+(?!.*node_modules)/g) ?? []);
        const answer = [...new Set(names)].sort()`);
    expect(await loadedBy("taskgate")).toEqual(["taskgate"]);
    expect(await loadedBy("taskgate/testing")).toEqual(["taskgate"]);
    // Azure's own library, which the app has anyway; the cookie parser comes with it.
    expect(await loadedBy("taskgate/functions")).toEqual([
      "@azure/functions",
      "@azure/functions-extensions-base",
      "cookie",
      "taskgate",
    ]);
  });

  test.each([["mssql://sa:x@127.0.0.1:1/none", "npm install mssql tedious@19"]])(
    "the doors name a missing driver and the command that installs it: %s",
    async (url, command) => {
      const call = run("npx", ["taskgate", "status", "--db", url], { cwd: apps[0].folder });
      await expect(call).rejects.toThrow(command);
    },
  );
});

describe("the declarations", () => {
  const modules = join(folder, "billing", "node_modules");
  const compilers: [string, string, string[]][] = [
    ["the oldest compiler that is served", join(modules, "typescript-oldest"), []],
    // It includes no types that aren't named.
    ["the compiler of the repository", join(root, "node_modules", "typescript"), ["node"]],
  ];
  // The app's own compiler builds both apps for the last test; elsewhere libraries aren't checked once more.
  test.each(isWhole ? compilers : compilers.slice(0, 1))(
    "the declarations compile in both apps with %s, with every library checked",
    async (_, compiler, types) => {
      const options = ["--noEmit", "--skipLibCheck", "false"];
      if (types.length > 0) options.push("--types", types.join());
      const check = ({ folder: cwd }: ExistingApp): Promise<string> =>
        run(process.execPath, [join(compiler, "bin", "tsc"), ...options], { cwd });
      expect(await Promise.all(apps.map(check))).toEqual(["", ""]);
    },
    240_000,
  );

  test("the declarations of two copies of the package fit together: tasks of the one are tasks of the other", async () => {
    const [{ folder: cwd }] = apps;
    const copies = join(cwd, "copies");
    const tasks = join(copies, "tasks");
    mkdirSync(join(tasks, "node_modules"), { recursive: true });
    cpSync(installed, join(tasks, "node_modules", "taskgate"), { recursive: true });
    writeFileSync(
      join(tasks, "tasks.ts"),
      `import { defineTask, taskRequest } from "taskgate";
       export const greet = defineTask<{ name: string }>({ name: "greet", run: async () => null });
       export const request = taskRequest(greet, { name: "Ada" });`,
    );
    writeFileSync(
      join(copies, "gate.ts"),
      `import { taskgate } from "taskgate/functions";
       import { greet, request } from "./tasks/tasks";
       export const gate = taskgate({ tasks: [greet] });
       export const added = () => gate.enqueueAll([request]);
       export const one = () => gate.enqueue(greet, { name: "Ada" });`,
    );
    const tsc = join(cwd, "node_modules", "typescript", "bin", "tsc");
    const options = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"];
    const resolution = ["--module", "node16", "--moduleResolution", "node16"];
    const files = [join(copies, "gate.ts")];
    expect(await run(process.execPath, [tsc, ...options, ...resolution, ...files], { cwd })).toBe(
      "",
    );
  }, 240_000);

  // test/types judges the sources; here a type that became `any` on its way into the package is found.
  test("the declarations of the package refuse each mistake that the sources refuse", async () => {
    const doors = Object.entries(readManifest(installed).exports).flatMap(([door, target]) =>
      typeof target === "string"
        ? []
        : [[join("taskgate", door), [join(installed, target.types)]] as const],
    );
    const project = join(folder, "mistakes.json");
    const compilerOptions = {
      ...{
        noEmit: true,
        skipLibCheck: true,
        types: ["node"],
        typeRoots: [join(root, "node_modules", "@types")],
      },
      ...{ strict: true, exactOptionalPropertyTypes: true },
      ...{ target: "es2023", module: "node20", moduleResolution: "node16" },
      paths: Object.fromEntries(doors),
    };
    const include = [join(root, "test/types/fixtures/strict/*.ts")];
    writeFileSync(project, JSON.stringify({ compilerOptions, include }));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    expect(await run(process.execPath, [tsc, "--project", project], { cwd: folder })).toBe("");
  }, 240_000);
});

describe("an app with a cap around its function", () => {
  const messages = 12;
  const hosts: HostChild[] = [];
  const lines: string[] = [];
  let azurite: Azurite;
  let database: Awaited<ReturnType<typeof createEmptyDatabase>>;

  beforeAll(async () => {
    ensureBuilt();
    [azurite, database] = await Promise.all([startAzurite(), createEmptyDatabase()]);
  }, 180_000);

  afterAll(async () => {
    await Promise.all(hosts.map((host) => host.stop()));
    await azurite.stop();
    await database.drop();
  });

  async function start(app: ExistingApp, overlapFile: string): Promise<void> {
    const load = createRequire(__filename);
    const compiled = join(root, "dist/shared/local/host-children.js");
    const { startHostChild } = load(compiled) as typeof HostChildren;
    const { PATH, HOME } = process.env;
    const env = {
      PATH,
      HOME,
      AzureWebJobsStorage: azurite.connectionString,
      TASKGATE_DATABASE_URL: urlAs(database.url, "app"),
      [overlapVariable]: overlapFile,
    };
    const settings = { appRoot: app.folder, port: 0, env, runsTimers: false };
    hosts.push(await startHostChild(settings, (line) => lines.push(line)));
  }

  test("an app with a cap never runs more bodies at once than the limit says, over both apps, and as many", async () => {
    const [init] = apps;
    const tsc = join(init.folder, "node_modules", "typescript", "bin", "tsc");
    await Promise.all([
      ...apps.map((app) => run(process.execPath, [tsc, "--skipLibCheck"], { cwd: app.folder })),
      run("npx", ["taskgate", "migrate", "--db", database.url], { cwd: init.folder }),
    ]);
    const overlapFile = join(folder, "overlap.log");
    writeFileSync(overlapFile, "");
    const queues = QueueServiceClient.fromConnectionString(azurite.connectionString);
    for (const { queue } of apps) {
      const client = queues.getQueueClient(queue);
      await client.createIfNotExists();
      for (let count = 1; count <= messages; count += 1)
        await client.sendMessage(Buffer.from(JSON.stringify({ count })).toString("base64"));
    }
    await Promise.all(apps.map((app) => start(app, overlapFile)));

    const notes = (): string[] => readFileSync(overlapFile, "utf8").split("\n").slice(0, -1);
    const whole = 2 * messages * apps.length;
    for (let tries = 0; tries < 1_200 && notes().length < whole; tries += 1) await sleep(25);
    if (notes().length < whole)
      throw new Error(`not all within 30 s: ${notes().join(", ")}\n${lines.join("\n")}`);
    expect(notes().filter((note) => note === "end billing")).toHaveLength(messages);
    expect(notes().filter((note) => note === "end shipping")).toHaveLength(messages);
    expect(mostAtOnce(notes())).toBe(partnerLimit);
    expect(lines.filter((line) => line.includes("Failed"))).toEqual([]);
  }, 240_000);

  test("an app with a cap is found out when a body runs without a token", () => {
    expect(mostAtOnce(["begin a", "begin b", "end a", "begin a", "end a", "end b"])).toBe(2);
  });
});

describeBundle(() => join(folder, "billing"));
describeDev(() => join(folder, "billing", "node_modules"), folder);
// Behind it: the packages for local runs are there now.
describeInit(() => join(folder, "billing", "node_modules"), folder);
describeEject(() => packed.file, folder);
testBlocksRan([
  ["docs/guides/eject.md", "eject"],
  ["docs/reference/cli.md", "examples-eject"],
]);

/** How many bodies had begun and not ended, at most. */
function mostAtOnce(notes: readonly string[]): number {
  let running = 0;
  return Math.max(...notes.map((note) => (running += note.startsWith("begin") ? 1 : -1)));
}
