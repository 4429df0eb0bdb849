import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { runCli } from "../../shared/cli/main";
import { Redraw } from "../../shared/terminal/redraw";
import { filled } from "../contract/batch-builders";
import { bashWords } from "../support/bash";
import { enqueue } from "../support/builders";
import { startNetwork } from "../support/silent-network";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { ensureBuilt, root } from "./built-app";

// Goal: --watch shows the present again and again, to people and to programs, and ends when the person says so. Method:
// the built program in a real terminal; the command line in this process where a pause is to bring something about.
let api: ApiSetup;

beforeAll(async () => {
  ensureBuilt();
  api = await setupApi();
  await api.register("greet");
}, 180_000);
afterAll(async () => {
  await api.close();
});

/** Runs a command line that is ended in the pause behind its last action; gives what it wrote. */
async function watch(words: string[], between: (() => Promise<unknown>)[], url = api.operatorUrl) {
  const lines: string[] = [];
  const pauses: number[] = [];
  const code = await runCli({
    words,
    environment: { TASKGATE_DATABASE_URL: url },
    folder: "/nowhere",
    output: {
      line: (text) => void lines.push(text),
      error: (text) => void lines.push(text),
      columns: null,
    },
    repeater: () => ({
      pause: async (ms) => {
        pauses.push(ms);
        const next = between.shift();
        await next?.();
        return next !== undefined;
      },
    }),
  });
  return { code, lines, pauses };
}

describe("--watch", () => {
  test("the option --watch gives programs one JSON document a line, each of its own look", async () => {
    const words = ["status", "--json", "--every", "10m"];
    const { code, lines, pauses } = await watch(words, [() => enqueue(api.store, "greet", 3)]);
    expect(code).toBe(0);
    expect(pauses).toEqual([600_000, 600_000]);
    const ready = lines.map((line) => (JSON.parse(line) as { totals: { ready: number } }).totals);
    expect(ready).toMatchObject([{ ready: 0 }, { ready: 3 }]);
  });

  test("the option --watch shows a limit again, and sets none", async () => {
    const words = ["limit", "greet", "--json", "--watch"];
    const lower = () => api.admin.setLimit({ definition: "greet", limit: 7, changedBy: "test" });
    const { code, lines } = await watch(words, [lower]);
    expect(code).toBe(0);
    const limitOf = (line: string) => (JSON.parse(line) as { limits: { limit: number }[] }).limits;
    expect(lines.map(limitOf)).toMatchObject([[{ limit: 4 }], [{ limit: 7 }]]);
    const set = await watch(["limit", "greet", "3", "--watch"], []);
    expect(set.code).toBe(2);
    expect(set.lines.join()).toContain("VALUE: got `3`, expected no VALUE together with --watch");
    const [greet] = await api.admin.definitions("greet");
    expect(greet?.limit).toBe(7);
  });

  test("the option --watch shows a batch again, and changes or follows none", async () => {
    const { batchId } = await filled(api.store, "greet", { counts: [2] });
    const start = () => api.store.startBatch({ batchId, seal: true });
    const { code, lines, pauses } = await watch(
      ["batch", batchId, "--watch", "--every", "5m"],
      [start],
    );
    expect([code, pauses]).toEqual([0, [300_000, 300_000]]);
    expect(lines).toEqual([
      expect.stringMatching(/: draft, 0 of 2 tasks ended[^]*It hasn't been started/),
      expect.stringMatching(/: running, 0 of 2 tasks ended/),
    ]);
    for (const flag of ["--resume", "--cancel", "--follow"]) {
      const refused = await watch(["batch", batchId, "--watch", flag], []);
      expect(refused.code).toBe(2);
      expect(refused.lines.join()).toContain(`${flag}: got \`true\`, expected it without --watch`);
    }
    expect((await api.admin.batch(batchId)).state).toBe("running");
  });

  test("the option --watch goes on when the database is away between two looks, and says so", async () => {
    const network = await startNetwork(new URL(api.operatorUrl));
    const { code, lines } = await watch(
      ["status", "--watch", "--timeout", "1s"],
      [network.fallSilent, network.speakAgain],
      network.url,
    );
    network.close();
    expect([code, lines]).toEqual([0, expect.anything()]);
    expect(lines[0]).toContain("ready");
    expect(lines.slice(1, -1).join("\n")).toMatch(/^taskgate: The database doesn't answer/m);
    expect(lines.at(-1)).toContain("ready");
  });

  test("the option --watch ends at once with what can't be right later", async () => {
    const { code, lines, pauses } = await watch(["definitions", "nobody", "--watch"], []);
    expect(code).toBe(3);
    expect(lines.join("\n")).toContain("nobody");
    expect(pauses).toEqual([]);
  });

  test.each(["soon", "1ms", "199ms", "2h"])(
    "the option --every refuses %s, with the expected form and examples that it takes",
    async (every) => {
      const expected = `--every: got \`${every}\`, expected a time of 200ms to 1h, such as 500ms, 90s or 10m`;
      for (const words of [["status"], ["batch", "1", "--follow"], ["batch", "1", "--watch"]]) {
        const { code, lines } = await watch([...words, "--every", every], []);
        expect([code, lines.join("\n")]).toEqual([2, expect.stringContaining(expected)]);
      }
    },
  );

  test("the option --watch draws over the look before on a terminal, and ends with 0 at Ctrl+C", async () => {
    const program = join(root, "dist/shared/cli/main.js");
    // Ctrl+C reaches the shell too: with a trap it lives on to tell the code.
    const line = `trap : INT; '${process.execPath}' '${program}' status --every 300ms; echo "code $?"`;
    const child = spawn("script", ["-qec", line, "/dev/null"], {
      env: { ...process.env, TASKGATE_DATABASE_URL: api.operatorUrl, TERM: "xterm" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    let text = "";
    let isTold = false;
    child.stdout.on("data", (data: Buffer) => {
      text += data.toString();
      const looks = text.split("Ctrl+C ends").length - 1;
      if (looks < 3 || isTold) return;
      isTold = true;
      child.stdin.write("\u0003");
    });
    // "exit" may come before the last of what was written.
    await once(child, "close");
    expect(text).toContain("taskgate status  every 300ms, Ctrl+C ends");
    expect(text.split("\u001b[2J")).toHaveLength(2);
    expect(text.split("\u001b[H").length).toBeGreaterThanOrEqual(4);
    expect(text).toMatch(/code 0\s*$/);
  }, 60_000);
});

describe("a reader that has seen enough", () => {
  test.each([
    ["status --watch --every 200ms"],
    ["limits --watch --every 200ms --json"],
    ["export greet"],
  ])(
    "a command whose reader has seen enough, `taskgate %s`, ends at once with 0",
    async (words) => {
      await enqueue(api.store, "greet", 600);
      const program = `'${process.execPath}' '${join(root, "dist/shared/cli/main.js")}'`;
      const line = `${program} ${words} | head -1 > /dev/null; echo "codes \${PIPESTATUS[*]}"`;
      const { stdout, stderr } = await promisify(execFile)("bash", bashWords(line), {
        env: { ...process.env, TASKGATE_DATABASE_URL: api.operatorUrl },
        timeout: 20_000,
      });
      expect(stdout).toBe("codes 0 0\n");
      // Not all 600 were read for nobody.
      expect(stderr).not.toContain("are written");
    },
    30_000,
  );
});

test("a picture that is higher than the terminal says how many lines it lacks, and never scrolls", () => {
  let written = "";
  const redraw = new Redraw({ columns: 60, rows: 5, write: (text) => (written = text) });
  redraw.draw(["1", "2", "3", "4"]);
  expect(written).toContain("4");
  redraw.draw(["1", "2", "3", "4", "5", "6"]);
  expect(written).not.toContain("4\u001b");
  expect(written).toContain(".. 3 more lines; a larger terminal shows them.");
  expect(written.split("\n")).toHaveLength(5);
});
