/*
 * `npm start` with the sample, from outside: the compiled program as a child process, judged by its exit code, its output,
 * its database afterwards and what it leaves behind. The results are compared with a direct computation from the files.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { plantedRows } from "../../functions/tasks/flights/planted-rows";
import { startEmbeddedPostgres } from "../../shared/local/embedded-postgres";
import { sleep } from "../../shared/platform/real-clock";
import { Browser, chromiumNote, hasChromium } from "../support/browser";
import { describeWhole } from "../support/whole";
import { expectDeadLetters, expectResults, expectSoundStore } from "./expect-outcome";
import {
  ensureBuilt,
  living,
  makeHome,
  root,
  runLocal,
  startLocal,
  workerAmong,
} from "../e2e/local-process";
import type { LocalProcess } from "../e2e/local-process";

const runTimeoutMs = 300_000;

beforeAll(ensureBuilt, 120_000);

describe("a run to its end", () => {
  const { home, remove } = makeHome();
  afterAll(remove);

  test(
    "a run to its end ends with 0, the results of a direct computation and only the planted dead letters",
    async () => {
      const end = await runLocal(home, ["--once"]);

      expect({ code: end.code, output: end.code === 0 ? "" : end.output }).toEqual({
        code: 0,
        output: "",
      });
      expect(end.output).toContain("begins afresh");
      expect(end.output).toContain("9 dead letters (9 expected)");
      expectQuick("the run", end.tookMs, 100_000);
      await withKeptDatabase(home, async (url) => {
        await expectResults(url);
        await expectDeadLetters(url);
        expect(await mostAtOnce(url, "parse-block")).toBe(4);
      });
    },
    runTimeoutMs,
  );

  test(
    "--keep goes on with the data of the last run and counts nothing twice; --json tells it by events",
    async () => {
      const end = await runLocal(home, ["--once", "--keep", "--json"]);

      expect(end.code).toBe(0);
      const lines = end.output.trimEnd().split("\n");
      const events = lines.map((line) => JSON.parse(line) as { event: string });
      const started = events.findIndex(({ event }) => event === "started");
      expect(events[started]).toMatchObject({ beginning: "keeps", workers: 1 });
      expect(new Set(events.slice(0, started).map(({ event }) => event))).toEqual(
        new Set(["notice"]),
      );
      expect(events.at(-1)).toMatchObject({
        event: "done",
        files: 3,
        tasks: 471,
        deadLetters: Array.from({ length: 9 }, () => expect.anything() as unknown),
        problems: [],
      });
      await withKeptDatabase(home, expectResults);
    },
    runTimeoutMs,
  );
});

describe("a run that is interrupted", () => {
  const { home, remove } = makeHome();
  afterAll(remove);

  test(
    "an interrupted run refuses a second start, obeys a changed limit, leaves nothing behind, and is resumed with each effect once",
    async () => {
      const first = await startLocal(home);
      await first.until(/parse-block 4\/4/);

      const second = await runLocal(home);
      expect(second.code).toBe(1);
      expect(second.output).toMatch(/^Taskgate runs in this folder already \(process \d+\)/);

      const cli = [join(root, "dist", "shared", "cli", "main.js"), "limit", "parse-block", "7"];
      execFileSync(process.execPath, cli, { cwd: home, env: { PATH: process.env["PATH"] } });
      await first.until(/parse-block 7\/7/);
      writeFileSync(join(home, "landing", "notes.txt"), "not for import");
      await first.until(/notes\.txt: not a kind of file/);

      const family = first.family();
      expect(family.length).toBeGreaterThan(4);
      const interruptedAtMs = performance.now();
      first.signal("SIGINT");
      const end = await first.exited;
      expectQuick("the end", performance.now() - interruptedAtMs, 5_000);
      expect(end.code).toBe(0);
      await expectNobody(family);
      expect(existsSync(join(home, ".taskgate", "local.json"))).toBe(false);

      const resumed = await runLocal(home, ["--once"]);
      expect({ code: resumed.code, output: resumed.code === 0 ? "" : resumed.output }).toEqual({
        code: 0,
        output: "",
      });
      expect(resumed.output).toContain("resumes the run that was interrupted");
      await withKeptDatabase(home, async (url) => {
        await expectResults(url);
        await expectDeadLetters(url);
        await expectSoundStore(url);
      });
    },
    runTimeoutMs,
  );
});

describeWhole("workers that are killed", () => {
  const { home, remove } = makeHome();
  afterAll(remove);
  const testHere = existsSync("/proc/self/environ") ? test : test.skip;

  testHere(
    "killed workers are told and started again, one with an event and one with tasks, and each effect comes once",
    async () => {
      const run = await startLocal(home, ["--once", "--hosts", "3"]);
      const first = await workerWithEvent(home);
      kill(run, first);
      await run.until(/parse-block 4\/4/);
      for (const step of [
        "Starting PostgreSQL ..",
        "Migrating the schema ..",
        "Starting 3 workers ..",
      ])
        expect(run.output()).toContain(`${step}\n`);
      const second = first === "local-2" ? "local-3" : "local-2";
      kill(run, second);
      for (const name of [first, second])
        await run.until(
          new RegExp(`Worker ${name} ended by itself \\(SIGKILL\\): it is started again`),
        );
      const end = await run.exited;
      expect({ code: end.code, output: end.code === 0 ? "" : end.output }).toEqual({
        code: 0,
        output: "",
      });
      await withKeptDatabase(home, async (url) => {
        await expectResults(url);
        await expectDeadLetters(url);
        expect(await mostAtOnce(url, "parse-block")).toBeLessThanOrEqual(4);
      });
    },
    runTimeoutMs,
  );
});

function kill(run: LocalProcess, name: string): void {
  const pid = workerAmong(run.family(), name);
  if (pid === undefined) throw new Error(`No process of ${name}:\n${run.output()}`);
  process.kill(pid, "SIGKILL");
}

/** The first worker whose log tells that it began with an event and doesn't tell that it ended. */
async function workerWithEvent(home: string): Promise<string> {
  const file = join(home, ".taskgate", "local.log");
  for (let look = 0; look < 1_200; look += 1) {
    const log = existsSync(file) ? readFileSync(file, "utf8") : "";
    const count = (name: string, word: string): number =>
      log.split(`[${name}] information ingest: ${word} 'ingest'`).length;
    const name = ["local-1", "local-2", "local-3"].find(
      (worker) => count(worker, "Executing") > count(worker, "Executed"),
    );
    if (name !== undefined) return name;
    await sleep(50);
  }
  throw new Error("No worker began with an event.");
}

describeWhole("the dashboard", () => {
  const testHere = hasChromium ? test : test.skip;
  const { home, remove } = makeHome();
  afterAll(remove);

  testHere(
    `the dashboard shows definitions, dead letters, results and the files' waves in a browser${chromiumNote}`,
    async () => {
      const run = await startLocal(home, ["--limit", "20"]);
      const browser = new Browser();
      try {
        await run.until(/9 dead letters/, 120_000);
        const url = `http://127.0.0.1:${String(run.port)}/api/dashboard`;
        const page = await browser.open(url);
        for (const text of ["live", "parse-block", " of 20"]) await page.shows(text);
        await page.evaluate(`location.hash = "#tasks?definition=check-row&state=dead"; 1`);
        for (const planted of plantedRows) await page.shows(`row ${String(planted.row)}.`);
        await page.click(`a[href="#results"]`);
        // The table of imported files: noted when all of their waves are over.
        await page.until(
          `[...document.querySelectorAll("#results td.number")].some((cell) => cell.innerText === "2,009")`,
        );
        await page.click(`a[href="#batches"]`);
        await page.shows("flights-2k-with-bad-rows.json");
        await page.shows("9 of 9, done");
        await page.shows("Wave 3");
        expect(page.problems).toEqual([]);
      } finally {
        await browser.close();
        run.signal("SIGTERM");
      }
      expect((await run.exited).code).toBe(143);
    },
    runTimeoutMs,
  );
});

/** This time is for a machine that has little else to do: the run's own load is about 3. */
function expectQuick(what: string, tookMs: number, maxMs: number): void {
  const [load = 0] = loadavg();
  const isBusy = load > 4 + availableParallelism();
  if (isBusy)
    process.stdout.write(`not judged: the time of ${what}, with a load of ${load.toFixed(1)}\n`);
  else expect(tookMs).toBeLessThan(maxMs);
}

/** The database of a run that has ended, up again for a look. */
async function withKeptDatabase(home: string, look: (url: string) => Promise<void>): Promise<void> {
  const server = await startEmbeddedPostgres({
    dataDir: join(home, ".taskgate", "postgres"),
    keep: true,
  });
  try {
    await look(server.url);
  } finally {
    await server.stop();
  }
}

/**
 * The most attempts of a definition that ran at the same time, by the execution log. A lost one ends in it when it is taken
 * back, which may be after its token was granted anew: test/fault/limit.test.ts looks at those from outside.
 */
async function mostAtOnce(url: string, definition: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ max: string }>(
    `select max(running) as max from (
       select sum(step) over (order by at, step) as running from (
         select started_at as at, 1 as step from taskgate.v_execution_log where definition = $1 and outcome <> 'lost'
         union all
         select ended_at, -1 from taskgate.v_execution_log where definition = $1 and outcome <> 'lost') steps) sums`,
    [definition],
  );
  await client.end();
  return Number(rows[0]?.max);
}

/** What the run started is gone soon after its end: the system may take a while to bury it. */
async function expectNobody(pids: readonly number[]): Promise<void> {
  const untilMs = performance.now() + 10_000;
  while (living(pids).length > 0 && performance.now() < untilMs) await sleep(50);
  expect(living(pids)).toEqual([]);
}
