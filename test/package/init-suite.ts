import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { root } from "../functions/built-app";
import { writeInitApp, writeModuleApp } from "./apps";
import type { ExistingApp } from "./apps";
import { enqueueIn, startDevIn, untilIn } from "./dev-process";
import type { DevRun } from "./dev-process";
import { run } from "./packed";
import { hasSample } from "../support/sample";
import { fewOf, testWhole } from "../support/whole";

/** The tests of `taskgate init` from the packed package: what it makes is built and run by the commands of docs/quickstart-existing-app.md. */
export function describeInit(getModules: () => string, folder: string): void {
  const program = (): string => join(getModules(), "taskgate", "lib", "cli", "main.js");
  let dev: DevRun | null = null;

  afterEach(async () => {
    dev?.child.kill("SIGTERM");
    await dev?.exitCode;
    dev = null;
  });

  const taskgate = (app: string, ...words: string[]): Promise<string> =>
    run(process.execPath, [program(), ...words], { cwd: app });

  async function start(app: string): Promise<DevRun> {
    const started = await startDevIn({ app, program: program() });
    dev = started;
    await untilIn(started, () => / {2}log {10}/.test(started.output()), "the first picture");
    return started;
  }

  /** Makes a new app of a template, with the packages that it names. */
  async function makeApp(template: string): Promise<string> {
    const app = join(folder, `new-${template}`);
    await taskgate(folder, "init", "--template", template, "--app", app, "--yes");
    symlinkSync(getModules(), join(app, "node_modules"), "dir");
    await run("npm", ["run", "build"], { cwd: app });
    return app;
  }

  describe("taskgate init from the package", () => {
    const existing: [string, () => ExistingApp][] = [
      [
        "an app of func init",
        () => {
          const app = writeInitApp(join(folder, "invoices"), {});
          symlinkSync(getModules(), join(app.folder, "node_modules"), "dir");
          return app;
        },
      ],
      ["a strict app of ES modules", () => writeModuleApp(join(folder, "parcels"), getModules())],
    ];

    test.each(fewOf(existing))(
      "taskgate init connects %s: it compiles, runs in taskgate dev and serves the dashboard",
      async (_, write) => {
        const { folder: app } = write();
        // The strict app uses what the other one has installed: its manifest names no package.
        if (app.endsWith("parcels"))
          await run("npm", ["pkg", "set", "dependencies.@azure/functions=^4.0.0"], { cwd: app });
        await taskgate(app, "init", "--yes");
        const tsc = join(getModules(), "typescript", "bin", "tsc");
        await run(process.execPath, [tsc], { cwd: app });
        const { port, output } = await start(app);
        const page = `http://127.0.0.1:${String(port)}/api/taskgate/dashboard`;
        expect(output()).toContain(`dashboard    ${page}\n`);
        expect((await fetch(page)).status).toBe(200);
      },
      120_000,
    );

    test("taskgate init makes an app of the template blank whose task runs in taskgate dev", async () => {
      const app = await makeApp("blank");
      const started = await start(app);
      await untilIn(started, () => /no tasks yet/.test(started.output()), "the first look");
      const call = (...words: string[]): Promise<string> => taskgate(app, ...words);
      await enqueueIn(call, "greet", { name: "Ada" });
      await untilIn(started, () => /100%\s+1 of 1 tasks/.test(started.output()), "the task");
    }, 120_000);

    (hasSample ? testWhole : test.skip)(
      "taskgate init makes an app of the template flights whose pipeline comes to its good end",
      async () => {
        symlinkSync(
          join(root, "node_modules", "vega-datasets"),
          join(getModules(), "vega-datasets"),
          "dir",
        );
        const app = await makeApp("flights");
        const started = await startDevIn({
          app,
          program: program(),
          words: ["--once", "--limit", "20"],
        });
        dev = started;
        expect({ code: await started.exitCode, output: started.output() }).toEqual({
          code: 0,
          output: expect.stringContaining("9 dead letters (9 expected)"),
        });
      },
      240_000,
    );
  });
}
