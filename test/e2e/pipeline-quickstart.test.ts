/*
 * docs/quickstart-pipeline.md step by step, in a copy of this app: its files are saved where it says, its commands run as pasted, and
 * the event's totals stand in its table.
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "pg";
import { sleep } from "../../shared/platform/real-clock";
import { readBlock } from "../docs/markdown";
import { bashWords } from "../support/bash";
import { describeWhole } from "../support/whole";
import { copyApp } from "./app-copy";
import type { AppCopy } from "./app-copy";
import { startLocal } from "./local-process";
import type { LocalProcess } from "./local-process";

const page = "docs/quickstart-pipeline.md";
const run = promisify(execFile);
const block = (marker: string): string => readBlock(page, marker).text;

describeWhole("the quickstart of a pipeline", () => {
  let copy: AppCopy;
  let local: LocalProcess | null = null;

  beforeAll(() => {
    copy = copyApp();
    // `npx` takes the command of the package; here it is the one of the copy.
    const command = join(copy.folder, "bin/npx");
    const program = join(copy.folder, "dist/shared/cli/main.js");
    mkdirSync(dirname(command));
    writeFileSync(command, `#!/bin/sh\nshift\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(command, 0o755);
  });
  afterAll(async () => {
    await end();
    copy.remove();
  });

  const save = (name: string, text: string): void => {
    writeFileSync(join(copy.folder, name), text);
  };

  /** What `npm start -- --no-sample` runs. */
  async function start(): Promise<void> {
    local = await startLocal(copy.folder, ["--no-sample"], join(copy.folder, ".ci/start.cjs"));
    await local.until(/no tasks yet/, 180_000);
  }

  async function end(): Promise<void> {
    local?.signal("SIGINT");
    await local?.exited;
    local = null;
  }

  /** Commands as pasted, one after the other; answers their output. */
  async function paste(text: string): Promise<string> {
    const { PATH = "", HOME } = process.env;
    const env = { PATH: `${join(copy.folder, "bin")}${delimiter}${PATH}`, HOME };
    const { stdout } = await run("bash", bashWords(`set -e\n${text}`), { cwd: copy.folder, env });
    return stdout;
  }

  async function totals(): Promise<unknown[]> {
    const text = readFileSync(join(copy.folder, ".taskgate/local.json"), "utf8");
    const { databaseUrl } = JSON.parse(text) as { databaseUrl: string };
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      return (await client.query<object>("select * from region_total order by region")).rows;
    } finally {
      await client.end();
    }
  }

  test("an event that is sent by the page's commands becomes a batch with the totals of its regions", async () => {
    await start();
    save("sales.sql", block("pipeline-table"));
    await paste(block("pipeline-create"));

    save("functions/tasks/sales.ts", block("pipeline-tasks"));
    copy.edit(
      "functions/tasks/index.ts",
      [
        /^/,
        'import { importSales, loadSales, salesRoute, startSales, sumRegion } from "./sales";\n',
      ],
      [
        "  importAirports,\n",
        "  importSales,\n  startSales,\n  loadSales,\n  sumRegion,\n  importAirports,\n",
      ],
      ["[...flightRoutes]", "[...flightRoutes, salesRoute]"],
    );
    await end();
    await start();

    save("event.json", block("pipeline-event"));
    await paste(block("pipeline-send"));
    const expected = [
      { region: "north", amount: "40" },
      { region: "south", amount: "20" },
    ];
    for (let tries = 1; (await totals()).length < 2 && tries < 60; tries += 1) await sleep(500);
    expect(await totals()).toEqual(expected);

    // Ingested once by its source and id.
    await paste(block("pipeline-send"));
    await sleep(3_000);
    expect(await totals()).toEqual(expected);
    const watched = await paste(block("pipeline-watch"));
    expect(watched).toMatch(/monday\.json.*done/);
    expect(watched.match(/sum-region/g)?.length).toBeGreaterThanOrEqual(2);
    expect(await paste("npx taskgate definitions load-sales --json")).toMatch(/"limit":\s*1\b/);
    expect(JSON.parse(await paste("npx taskgate batches --json"))).toMatchObject({
      batches: [{ name: "monday.json", state: "done" }],
    });
  }, 300_000);
});
