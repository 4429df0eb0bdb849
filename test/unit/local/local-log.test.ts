import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { LocalLog } from "../../../shared/local/local-log";
import { sleep } from "../../../shared/platform/real-clock";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "taskgate-log-"));
  path = join(folder, "local.log");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test("the local log begins anew, readable by its owner only, also over a file that others could read", async () => {
  writeFileSync(path, "of the last run");
  chmodSync(path, 0o644);
  const log = new LocalLog(path);
  log.add("first");
  log.add("debug second");
  await log.close();
  expect(readFileSync(path, "utf8")).toBe("first\ndebug second\n");
  expect(log.last()).toBe("first");
  if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("the local log never takes more than twice its bound, and ends with the last line", async () => {
  const log = new LocalLog(path, { bytesMax: 1_000 });
  for (let line = 0; line < 500; line += 1) {
    log.add(`line ${String(line)} ${"x".repeat(80)}`);
    // Streams are opened in the background: a run's lines come over minutes.
    if (line % 10 === 0) await sleep(2);
  }
  await log.close();
  expect(statSync(path).size).toBeLessThanOrEqual(1_100);
  expect(statSync(`${path}.1`).size).toBeLessThanOrEqual(1_100);
  expect(readFileSync(path, "utf8")).toContain("line 499 ");
  if (process.platform !== "win32") expect(statSync(`${path}.1`).mode & 0o777).toBe(0o600);
});

test("the local log goes on after the file couldn't be written for a while, and ends no run meanwhile", async () => {
  let nowMs = 0;
  mkdirSync(path);
  const log = new LocalLog(path, { nowMs: () => nowMs });
  log.add("lost");
  await sleep(50);
  rmSync(path, { recursive: true });
  log.add("lost, too: it was tried a moment ago");
  // The file system tells of a failure when it gets to it.
  while (!existsSync(path)) {
    nowMs += 6_000;
    log.add("there again");
    await sleep(10);
  }
  await log.close();
  expect(readFileSync(path, "utf8")).toMatch(/^(there again\n)+$/);
});
