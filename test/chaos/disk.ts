import { execFile } from "node:child_process";
import { mkdtemp, open, rm, rmdir, stat, statfs } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const sizeMb = 384;
const chunkBytes = 2 ** 20;
/** Of tmpfs, by statfs(2). */
const tmpfsType = 0x01021994;

/**
 * A small file system of one run alone, which may be filled. Nothing is written to fill it before it is shown, each time, that
 * it is still this file system and not the folder below it: else the machine's own disk would be filled.
 */
export class SmallDisk {
  readonly path: string;
  readonly #device: number;

  private constructor(path: string, device: number) {
    this.path = path;
    this.#device = device;
  }

  /** Mounts it in a new folder below `parent`. A text instead says why this machine can't. */
  static async mount(parent: string): Promise<SmallDisk | string> {
    if (process.platform !== "linux" || process.getuid?.() !== 0)
      return "the disk was never full: only root on Linux can mount a small one";
    const path = await mkdtemp(join(parent, "disk-"));
    const options = `size=${String(sizeMb)}m,mode=0755`;
    try {
      await run("mount", ["-t", "tmpfs", "-o", options, "taskgate-chaos", path]);
    } catch (error) {
      await rmdir(path);
      const reason = error instanceof Error ? error.message.trim() : String(error);
      return `the disk was never full: no small one could be mounted (${reason})`;
    }
    const disk = new SmallDisk(path, (await stat(path)).dev);
    if (await disk.#isMounted()) return disk;
    await run("umount", [path]);
    throw new Error(`Expected a file system of its own at ${path} after the mount`);
  }

  /** Fills it to the last byte, runs `body`, and empties it again, also after an error. */
  async whileFull(body: () => Promise<void>): Promise<void> {
    const filler = join(this.path, "filler");
    await this.#check(null);
    const file = await open(filler, "wx", 0o600);
    try {
      await this.#fill(file);
      await body();
    } finally {
      await file.truncate(0);
      await file.close();
      await rm(filler, { force: true });
    }
  }

  /** Unmounts it, where it is still there, and removes its folder. */
  async unmount(): Promise<void> {
    if (await this.#isMounted()) await run("umount", [this.path]);
    await rmdir(this.path);
  }

  /** Never more than its own size, for any answer of the system about the free space. */
  async #fill(file: FileHandle): Promise<void> {
    const zeros = Buffer.alloc(chunkBytes);
    for (let bytes = 0; bytes < sizeMb * 2 ** 20; bytes += chunkBytes) {
      await this.#check(file);
      try {
        // Less than a chunk may still fit.
        const { bytesWritten } = await file.write(zeros);
        if (bytesWritten < chunkBytes) return;
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOSPC") return;
        throw error;
      }
    }
  }

  async #check(file: FileHandle | null): Promise<void> {
    const isOwn = file === null || (await file.stat()).dev === this.#device;
    if (isOwn && (await this.#isMounted())) return;
    throw new Error(
      `${this.path} is no longer the small file system that was mounted there: nothing is written`,
    );
  }

  async #isMounted(): Promise<boolean> {
    const own = await stat(this.path).catch(() => null);
    const parent = await stat(join(this.path, ".."));
    if (own === null || own.dev !== this.#device || own.dev === parent.dev) return false;
    return (await statfs(this.path)).type === tmpfsType;
  }
}
