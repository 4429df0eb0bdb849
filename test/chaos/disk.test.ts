/*
 * The file system that a chaos run fills. What it must never do is fill another one: its mount may be gone, because a person
 * else cleaned up. Only root on Linux can mount; elsewhere this is skipped, as the scene is.
 */
import "../support/node-errors";
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { SmallDisk } from "./disk";

let parent: string;
let disk: SmallDisk | string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "taskgate-disk-"));
  disk = await SmallDisk.mount(parent);
});
afterEach(async () => {
  if (disk instanceof SmallDisk) await disk.unmount();
  await rm(parent, { recursive: true, force: true });
});

/** Of where the folder lies now. */
async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

test("the small disk is full while the body runs, and empty again when the body has thrown", async () => {
  if (!(disk instanceof SmallDisk)) {
    expect(disk).toContain("the disk was never full");
    return;
  }
  const { path } = disk;
  const before = await freeBytes(path);
  let during = -1;
  const filled = disk.whileFull(async () => {
    during = await freeBytes(path);
    throw new Error("as the test wants");
  });
  await expect(filled).rejects.toThrow("as the test wants");
  expect(during).toBeLessThan(4_096);
  expect(await freeBytes(path)).toBe(before);
});

test("the folder below a mount that is gone gets nothing written into it", async () => {
  if (!(disk instanceof SmallDisk)) {
    expect(disk).toContain("the disk was never full");
    return;
  }
  const { path } = disk;
  execFileSync("umount", [path]);
  let isRun = false;
  const filled = disk.whileFull(async () => {
    isRun = true;
  });
  await expect(filled).rejects.toThrow("no longer the small file system");
  expect(isRun).toBe(false);
  expect(await readdir(path)).toEqual([]);
});
