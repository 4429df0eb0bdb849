import { execFile } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { promisify } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { runCli } from "../../shared/cli/main";
import { bashWords } from "../support/bash";
import { registration, startWorker, uniqueName } from "../support/builders";
import { startNetwork } from "../support/silent-network";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";
import { ensureBuilt, root } from "./built-app";

// Goal: a file of any length becomes tasks, each once; whatever ends a run, its message says how to go on. Method: the
// command line on PostgreSQL; the built program where standard input, a signal or the memory counts.
let api: ApiSetup;
let folder: string;
let name: string;

beforeAll(async () => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), "taskgate-from-"));
  api = await setupApi();
}, 180_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
});
beforeEach(async () => {
  name = uniqueName("from");
  await api.register(name);
});

function fileOf(content: string | Uint8Array, ending = "ndjson"): string {
  const path = join(folder, `${name}.${ending}`);
  writeFileSync(path, content);
  return path;
}

interface Ended {
  readonly code: number;
  readonly out: string[];
  readonly error: string[];
  /** What stood on the changing line of a terminal. */
  readonly shown: string[];
}

/** `taskgate enqueue` of this test's definition; `onLine` is told of each line on standard output. */
async function enqueue(
  words: readonly string[],
  {
    interrupted,
    onLine,
    url = api.operatorUrl,
  }: { interrupted?: AbortSignal; onLine?: () => void; url?: string } = {},
): Promise<Ended> {
  const [out, error, shown]: string[][] = [[], [], []] as never;
  const code = await runCli({
    words: ["enqueue", name, ...words],
    environment: { TASKGATE_DATABASE_URL: url },
    folder,
    output: {
      line: (text) => {
        out?.push(text);
        onLine?.();
      },
      error: (text) => void error?.push(text),
      rewrite: (text) => void shown?.push(text),
      columns: null,
    },
    repeater: () => ({
      pause: () => Promise.resolve(false),
      ...(interrupted === undefined ? {} : { interrupted }),
    }),
  });
  return { code, out: out ?? [], error: error ?? [], shown: shown ?? [] };
}

async function ready(): Promise<number> {
  return (await api.admin.definitions(name))[0]?.ready ?? 0;
}

/** Payloads in the order of the tasks. */
async function payloads(): Promise<unknown[]> {
  const worker = await startWorker(api.store, name, { want: 4 });
  const claimed = await worker.claim(10);
  await worker.finish();
  return claimed.map(({ payload }) => payload);
}

const lines = (count: number, from = 1): string =>
  Array.from({ length: count }, (_, index) => `{"id":${String(from + index)}}\n`).join("");

describe("enqueue --from", () => {
  test("a line of JSON is a payload, and each slice shows how far it is", async () => {
    const file = fileOf(lines(2_500));
    const { code, out, shown } = await enqueue(["--from", file]);
    expect(out).toEqual([
      `2500 tasks were added to ${name}, 0 were there already. No queue is known here (AzureWebJobsStorage): the next sweep finds it, or \`taskgate work\` at once.`,
    ]);
    expect(code).toBe(0);
    expect(await ready()).toBe(2_500);
    expect(shown[0]).toMatch(/^\[#+-+\] +\d+ % {2}line 1000: 1000 added, 0 there already$/);
    expect(shown.at(-1)).toBe("");
    expect((await payloads()).slice(0, 2)).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test("a CSV file is known by its name; its values are texts, or have types", async () => {
    const text = 'id,name,note\r\n7,Ada,"a, ""b"""\r\n8,Bo,\r\n';
    expect((await enqueue(["--from", fileOf(text, "csv")])).out[0]).toMatch(/^2 tasks were added/);
    await enqueue(["--from", fileOf(text, "txt"), "--format", "csv", "--typed"]);
    expect(await payloads()).toEqual([
      { id: "7", name: "Ada", note: 'a, "b"' },
      { id: "8", name: "Bo", note: "" },
      { id: 7, name: "Ada", note: 'a, "b"' },
      { id: 8, name: "Bo", note: "" },
    ]);
  });

  test("options hold for every task", async () => {
    const words = ["--kind", "mail", "--priority", "7"];
    await enqueue(["--from", fileOf(lines(2)), ...words, "--group", "eu"]);
    const { tasks } = await api.store.listTasks({ name, state: "waiting", max: 5 });
    expect(tasks).toMatchObject([{ kind: "mail", priority: 7 }]);
    const { out } = await enqueue(["--from", fileOf(lines(2)), ...words, "--run-in", "1h"]);
    expect(out[0]).toMatch(/^2 tasks were added .* due in (1 h|59 min)/);
  });

  test("a repeat of enqueue --from with a key adds nothing, also when the first tasks have ended, and goes on with the rest", async () => {
    const file = fileOf(lines(1_200));
    const key = ["--from", file, "--key-field", "id"];
    await enqueue(key);
    const worker = await startWorker(api.store, name, { want: 4 });
    await worker.complete(await worker.claim(3));
    await worker.finish();
    writeFileSync(file, lines(1_203));
    const { out } = await enqueue([...key, "--json"]);
    expect(out.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { lines: 1_000, enqueued: 0, duplicates: 1_000, state: "running" },
      { lines: 1_203, enqueued: 3, duplicates: 1_200, state: "running" },
      {
        definition: name,
        lines: 1_203,
        enqueued: 3,
        duplicates: 1_200,
        replaced: 0,
        state: "done",
      },
    ]);
    expect(await ready()).toBe(1_200);
  });

  test("a key may be deeper, and --replace gives waiting tasks the new payload", async () => {
    const key = ["--key-field", "order.id", "--replace"];
    await enqueue(["--from", fileOf('{"order":{"id":"a"},"n":1}\n'), ...key]);
    const { out } = await enqueue(["--from", fileOf('{"order":{"id":"a"},"n":2}\n'), ...key]);
    expect(out[0]).toMatch(/^0 tasks were added to .*, 0 were there already, 1 carries the new/);
    expect(await payloads()).toMatchObject([{ n: 2 }]);
  });

  test("a key that is taken twice in one file makes one task", async () => {
    const { out } = await enqueue([
      "--from",
      fileOf('{"id":"a"}\n{"id":"a"}\n'),
      "--key-field",
      "id",
    ]);
    expect(out[0]).toMatch(/^1 task was added to .*, 1 was there already\./);
  });

  test.each([
    ['{"id":1}\n{"id":\n', "ndjson", /line 2: got "\{\\"id\\":", expected a payload on one line/],
    ["5\n", "ndjson", /line 1\.payload: got 5, expected a JSON object or array/],
    ['{"n":1e309}\n', "ndjson", /line 1\.n: got 1e309, expected a number that a double keeps/],
    ['{"x":1}\n', "ndjson", /line 1\.payload\.id: got nothing, expected a text or a whole number/],
    ['{"id":1.5}\n', "ndjson", /line 1\.payload\.id: got 1\.5, expected a key: a text of 1\.\.200/],
    ["id,b\n1,2\n3\n", "csv", /line 3: got 1 value, expected 2, one for each column: id, b/],
    ['id,b\n1,"2\n', "csv", /line 2: got a field in quotes without its end/],
    ["no,b\n1,2\n", "csv", /--key-field: got "id", expected one of the columns no, b/],
  ])("%j is refused with the line, and nothing is added", async (content, ending, message) => {
    const { code, out, error } = await enqueue([
      "--from",
      fileOf(content, ending),
      "--key-field",
      "id",
    ]);
    expect([code, out, error[0]]).toEqual([2, [], "Nothing was enqueued."]);
    expect(error[1]).toMatch(message);
    expect(await ready()).toBe(0);
  });

  test("a bad line ends the run behind the slices before it, and --after-line goes on there", async () => {
    const file = fileOf(`${lines(1_500)}{"id":\n${lines(500, 1_501)}`);
    const { code, out, error } = await enqueue(["--from", file]);
    expect([code, out]).toEqual([2, []]);
    expect(error[0]).toBe(
      "All tasks up to line 1000 are enqueued: --after-line 1000 goes on behind it.",
    );
    expect(error[1]).toMatch(/^taskgate: line 1501: got /);
    expect(await ready()).toBe(1_000);
    writeFileSync(file, lines(2_000));
    expect((await enqueue(["--from", file, "--after-line", "1000"])).out[0]).toMatch(/^1000 tasks/);
    expect(await ready()).toBe(2_000);
    const rest = await enqueue(["--from", file, "--after-line", "2000"]);
    expect(rest.out).toEqual([`No task was added: ${file} has none behind line 2000.`]);
  });

  test("a refusal by the database names the line of the task", async () => {
    const group = { groupBy: "eu", isGroupComputed: false, priority: null, runInMs: null };
    const kinds = [{ kind: name, ...group, dedupeBy: null, dedupeMs: null }];
    await api.store.registerDefinition(
      registration({ name, build: 8, settingsHash: "kinds", kinds }),
    );
    const { code, error } = await enqueue(["--from", fileOf('\n{"eu":"a"}\n\n{"eu":[1]}\n')]);
    expect(code).toBe(2);
    expect(error[1]).toMatch(/line 4\.payload\.eu: expected a key/);
  });

  test("an unknown definition is told once, with near ones", async () => {
    const { code, error } = await enqueue(["--from", fileOf(lines(1)), "--json"]);
    expect([code, error]).toEqual([0, []]);
    name = `${name}x`;
    const unknown = await enqueue(["--from", fileOf(lines(1)), "--json"]);
    expect(unknown.code).toBe(3);
    expect(unknown.error).toHaveLength(1);
  });

  test("Ctrl+C ends it behind a slice with 130, and the rest can be added", async () => {
    const file = fileOf(lines(5_000));
    const interrupt = new AbortController();
    const options = {
      interrupted: interrupt.signal,
      onLine: () => {
        interrupt.abort();
      },
    };
    const { code, out } = await enqueue(["--from", file, "--json"], options);
    expect(code).toBe(130);
    expect(out.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { lines: 1_000, enqueued: 1_000, state: "running" },
      { lines: 1_000, enqueued: 1_000, state: "stopped" },
    ]);
    expect(await ready()).toBe(1_000);
    await enqueue(["--from", file, "--after-line", "1000"]);
    expect(await ready()).toBe(5_000);
  });
});

test("a database that falls silent ends a run with 4, and a repeat with its key adds each task once", async () => {
  const network = await startNetwork(new URL(api.operatorUrl));
  const words = ["--from", fileOf(lines(3_000)), "--key-field", "id"];
  const { code, out, error } = await enqueue([...words, "--json", "--timeout", "1s"], {
    url: network.url,
    onLine: () => void network.fallSilent(),
  });
  network.close();
  expect(code).toBe(4);
  expect(out.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { lines: 1_000, enqueued: 1_000, state: "running" },
  ]);
  expect(error).toHaveLength(1);
  const again = await enqueue(words);
  expect(again.out[0]).toMatch(/^2000 tasks were added to .*, 1000 were there already\./);
  expect(await ready()).toBe(3_000);
});

/** The built program in a shell; behind its output stands its exit code. */
async function shell(line: string): Promise<string> {
  const { PATH = "" } = process.env;
  const program = `'${process.execPath}' '${join(root, "dist/shared/cli/main.js")}'`;
  const script = `taskgate() { ${program} "$@"; }; ${line}; echo "code $?"`;
  const env = { PATH, HOME: folder, TERM: "xterm", TASKGATE_DATABASE_URL: api.operatorUrl };
  const { stdout } = await promisify(execFile)("bash", bashWords(script), { env });
  return stdout;
}

describe("the program", () => {
  test("the program reads standard input, and Ctrl+C ends it while it waits there", async () => {
    expect(await shell(`printf '{"id":1}\\n{"id":2}' | taskgate enqueue ${name} --from -`)).toMatch(
      /^2 tasks were added .*\ncode 0\n$/,
    );
    const program = `'${process.execPath}' '${join(root, "dist/shared/cli/main.js")}'`;
    // A pipe holds 64 KiB: behind more the program must have begun to read.
    const begun = join(folder, "begun");
    const blank = `printf '{"id":3}\\n%200000s\\n' ''; touch '${begun}'; sleep 3`;
    const isReading = `until [ -e '${begun}' ]; do sleep 0.05; done`;
    const waiting = `${program} enqueue ${name} --from - 2>&1 < <(exec 2>/dev/null; ${blank}) & ${isReading}; kill -INT $!; wait $!`;
    expect(await shell(waiting)).toBe("Stopped. Nothing was enqueued.\ncode 130\n");
    expect(await ready()).toBe(2);
  }, 30_000);

  test("a long file needs no more memory than a short one", async () => {
    const path = join(folder, "long.ndjson");
    const file = createWriteStream(path);
    const line = `${JSON.stringify({ text: "x".repeat(2_000) })}\n`.repeat(1_000);
    for (let count = 0; count < 60; count += 1) if (!file.write(line)) await once(file, "drain");
    file.end('{"id":\n');
    await once(file, "close");
    // 120 MB are read up to their last line, with a heap of 64 MB; nothing is sent.
    const words = `enqueue ${name} --from '${path}' --after-line 60000`;
    const program = `'${process.execPath}' --max-old-space-size=64 '${join(root, "dist/shared/cli/main.js")}'`;
    expect(await shell(`${program} ${words} 2>&1`)).toMatch(/line 60001: got .*\n.*\ncode 2\n$/);
  }, 30_000);
});
