/* The table of command lines, in one process, and some of them through the program itself. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { runCli } from "../../shared/cli/main";
import { ensureBuilt, root } from "../functions/built-app";
import { setupApi } from "../functions/api-setup";
import type { ApiSetup } from "../functions/api-setup";
import { cliCases, plantedSecret } from "./cli-cases";
import type { CliCase } from "./cli-cases";

let api: ApiSetup;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "taskgate-words-"));
  ensureBuilt();
  api = await setupApi();
  await api.register("known", { sharedLimits: [{ name: "partner-api", limit: 3 }] });
}, 180_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

function prepare({ words, file, environment }: CliCase) {
  const path = join(folder, file?.name ?? "none");
  if (file !== undefined) writeFileSync(path, file.content);
  return {
    words: words.map((word) => (word === "FILE" ? path : word)),
    environment: { TASKGATE_DATABASE_URL: api.operatorUrl, ...environment },
  };
}

async function runHere(given: CliCase): Promise<Ended> {
  const lines = { out: [] as string[], error: [] as string[] };
  const output = {
    line: (text: string) => void lines.out.push(text),
    error: (text: string) => void lines.error.push(text),
    columns: null,
  };
  const code = await runCli({ ...prepare(given), folder, output });
  return { code, out: lines.out.join("\n"), error: lines.error.join("\n") };
}

function runProgram(given: CliCase): Promise<Ended> {
  const { words, environment } = prepare(given);
  const program = join(root, "dist/shared/cli/main.js");
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: { PATH, HOME, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let error = "";
  child.stdout.on("data", (piece) => (out += String(piece)));
  child.stderr.on("data", (piece) => (error += String(piece)));
  return new Promise((resolve) => {
    child.on("close", (code) => {
      resolve({ code, out, error });
    });
  });
}

function expectWanted({ code, out, error }: Ended, wanted: CliCase): void {
  expect({ code, out, error }).toMatchObject({ code: wanted.code });
  expect(wanted.code === 0 ? out : error).toMatch(wanted.says);
  if (wanted.code !== 0) expect(out).toBe("");
  expect(out + error).not.toContain(plantedSecret);
  // No stack, and no more than a person reads.
  expect(error).not.toMatch(/^\s+at .*:\d+:\d+/m);
  expect(error.length).toBeLessThan(6_000);
}

const titled = cliCases.map((given): [string, CliCase] => [
  [...given.words, ...(given.file === undefined ? [] : [given.file.name])].join(" ").slice(0, 100),
  given,
]);

/** Those that wait for a server that isn't there take a while: one of them is enough. */
const isAway = ({ code }: CliCase): boolean => code === 4;

test.each(titled.filter(([, given]) => !isAway(given)))(
  "the command line taskgate %s answers as wanted",
  async (_, given) => {
    expectWanted(await runHere(given), given);
  },
);

test("addresses without a listener are told without their passwords", async () => {
  await Promise.all(
    cliCases.filter(isAway).map(async (given) => {
      expectWanted(await runHere(given), given);
    }),
  );
});

test("the program itself says the same", async () => {
  const some = cliCases.filter(({ words, file, environment }) =>
    words.includes("-1") ? words[0] === "limit" : (file?.name ?? environment) !== undefined,
  );
  expect(some.length).toBeGreaterThanOrEqual(5);
  for (const given of some.slice(0, 6)) expectWanted(await runProgram(given), given);
});
