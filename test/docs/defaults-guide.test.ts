import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { settingsTable } from "../../shared/settings/settings";
import { settingNames } from "../../shared/worker/define/define-queue";
import { defineTask } from "../../shared/worker/define/define-task";
import type { TaskKind } from "../../shared/worker/define/task-kind";
import { readBlocks, root } from "./markdown";

/* Goal: the guide names every setting of a kind, with the default that the code has. */
const page = "docs/guides/write-a-task.md";
const app = mkdtempSync(join(tmpdir(), "taskgate-defaults-"));

afterAll(() => {
  rmSync(app, { recursive: true, force: true });
});

function readBlock(): string {
  const found = readBlocks(page).find((block) => block.marker === "defaults");
  if (found === undefined) throw new Error(`${page} has no block under <!-- defaults -->`);
  return found.text;
}

/** The kind of the block, loaded as pasted. */
async function loadKind(): Promise<TaskKind> {
  mkdirSync(join(app, "functions/tasks"), { recursive: true });
  symlinkSync(join(root, "shared"), join(app, "shared"));
  const file = join(app, "functions/tasks/send-report.ts");
  writeFileSync(file, readBlock());
  return ((await import(file)) as { sendReport: TaskKind }).sendReport;
}

test("the guide's kind with every default is equal to a kind with a name alone", async () => {
  const written = await loadKind();
  const bare = defineTask({ name: "send-report", run: () => Promise.resolve() });
  const { concurrencyPerWorker, ...settings } = written.definition;
  const { concurrencyPerWorker: none, ...defaults } = bare.definition;
  expect(settings).toEqual(defaults);
  expect(none).toBeNull();
  const setting = settingsTable.find(({ name }) => name === "TASKGATE_CONCURRENCY_PER_WORKER");
  expect(String(concurrencyPerWorker)).toBe(String(setting?.default));
  expect(written.timeoutMs).toBe(bare.timeoutMs);
});

test("the guide's kind names every setting of a queue", () => {
  const text = readBlock();
  expect(settingNames.filter((name) => !new RegExp(`^ {2}${name}: `, "m").test(text))).toEqual([]);
});
