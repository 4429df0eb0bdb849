import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { commands } from "../../shared/cli/commands";
import { runCli } from "../../shared/cli/main";
import { chooseTheme } from "../../shared/terminal/theme";
import { enqueue, operationId, startWorker } from "../support/builders";
import { setupApi } from "./api-setup";
import type { ApiSetup } from "./api-setup";

/*
 * Goal: no name, key, error or value of others acts on an operator's terminal: none moves the cursor, writes the clipboard, hides a
 * question or turns a sentence around. Method: every command that shows some of it runs over hostile ones, with colours, as JSON, and
 * up to its question.
 */
const hostile = "\u001b]52;c;cm0=\u0007\u001b[1A\u001b[2K\u001b[8m\u009b31m\u202egnp\u007f";
const esc = "\u001b";
/** All but lines and the colours of our theme. */
const acting = new RegExp(
  `${esc}(?!\\[(?:[0-2]|3[126])m)|[\\u0000-\\u0008\\u000b-\\u001a\\u001c-\\u001f\\u007f-\\u009f]|\\p{Bidi_Control}`,
  "u",
);

let api: ApiSetup;
let batchId: string;
let taskId: string;
const name = `jobs ${hostile}`;

beforeAll(async () => {
  api = await setupApi();
  await api.register(name);
  const { store } = api;
  const [id] = await enqueue(store, name, [
    { payload: JSON.stringify({ text: hostile }), dedupeKey: `k${hostile}`, group: `g${hostile}` },
  ]);
  taskId = String(id);
  const worker = await startWorker(store, name, { want: 1, worker: `w${hostile}` });
  await worker.fail([await worker.claimOne()], { as: "dead", error: `Error: ${hostile}` });
  await enqueue(store, name, [{ group: `g${hostile}` }, { group: `g${hostile}` }]);
  const batch = await store.createBatch({
    ...{ operationId: operationId(), name: `b${hostile}`, waves: 1, failurePolicy: "halt" },
  });
  ({ batchId } = batch);
  await store.setWatermark({
    ...{ name, watermark: `m${hostile}`, changedBy: `http:${hostile}`, reason: hostile },
    ...{ value: JSON.stringify({ last: hostile }), operationId: operationId() },
  });
}, 60_000);
afterAll(() => api.close());

/** Every text that one run puts out, its question among them. */
async function texts(words: readonly string[]): Promise<string> {
  const said: string[] = [];
  const say = (text: string): void => void said.push(text);
  await runCli({
    words,
    environment: { TASKGATE_DATABASE_URL: api.operatorUrl },
    folder: "/nowhere",
    output: {
      line: say,
      error: say,
      rewrite: say,
      columns: 160,
      theme: chooseTheme({ isTTY: true }, { FORCE_COLOR: "1" }),
    },
    ask: (question) => {
      say(question);
      return Promise.resolve("n");
    },
    repeater: () => ({
      pause: () => Promise.resolve(false),
      screen: { columns: () => 160, draw: (lines) => void said.push(...lines) },
    }),
  });
  return said.join("\n");
}

const lines = (): [string, string[]][] => [
  ["status", ["status"]],
  ["top", ["top", name]],
  ["statistics", ["statistics", name]],
  ["definitions", ["definitions"]],
  ["limits", ["limit", name]],
  ["tasks", ["tasks", name, "--state", "dead"]],
  ["failures", ["failures"]],
  ["explain", ["explain", taskId]],
  ["groups", ["groups", name]],
  ["batches", ["batches"]],
  ["batch", ["batch", batchId]],
  ["batch", ["batch", batchId, "--follow"]],
  ["batch", ["batch", batchId, "--cancel"]],
  ["watermarks", ["watermarks"]],
  ["watermark", ["watermark", name, `m${hostile}`]],
  ["watermark", ["watermark", name, `m${hostile}`, "--clear"]],
  ["audit", ["audit"]],
  ["executions", ["executions", "--all"]],
  ["export", ["export", name]],
  ["doctor", ["doctor"]],
  ["cancel", ["cancel", name, "--all"]],
  ["redrive", ["redrive", name, "--all"]],
  ["definitions --watch", ["definitions", "--watch"]],
  ["an unknown task", ["explain", `9${hostile}`]],
  ["an unknown definition", ["tasks", `nobody ${hostile}`]],
  ["an unknown command", [hostile]],
];

test("the scene is hostile, and commands show it", async () => {
  expect(hostile).toMatch(acting);
  expect(commands.length).toBeGreaterThan(20);
  expect(await texts(["batch", batchId])).toContain("gnp");
  expect(await texts(["batch", batchId, "--cancel"])).toContain("Go on? [y/N]");
  expect(await texts(["watermark", name, `m${hostile}`])).toContain("gnp");
});

test("JSON keeps the values, by the numbers of their signs", async () => {
  const told = JSON.parse(await texts(["batch", batchId, "--json"])) as { name: string };
  expect(told.name).toBe(`b${hostile}`);
  const exported = (await texts(["export", name, "--state", "dead"])).split("\n");
  expect(JSON.parse(exported.find((line) => line.startsWith("{")) ?? "")).toMatchObject({
    payload: { text: hostile },
  });
});

// Last: with --json nothing is asked, so tasks are cancelled and redriven.
test("no command puts out a sign that a terminal acts on, as text or as JSON", async () => {
  const found: string[] = [];
  for (const [title, words] of lines()) {
    for (const more of [[], ["--json"]]) {
      const out = await texts([...words, ...more]);
      const [sign] = acting.exec(out) ?? [];
      if (sign !== undefined) found.push(`${[title, ...more].join(" ")}: ${JSON.stringify(sign)}`);
    }
  }
  expect(found).toEqual([]);
});
