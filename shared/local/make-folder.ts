import { messageOf, textAt } from "../core/foreign-value";
import { access, constants, mkdir, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/**
 * Makes a folder and those above it, and makes sure that this process may write there. Not node's recursive mkdir: where a
 * file system has no new folders (/proc), that one tries for ever and hears no signal.
 *
 * Errors: an Error with a sentence that names the folder at fault, and with `cure` behind it.
 */
export async function makeFolder(path: string, cure?: string): Promise<void> {
  try {
    await make(resolve(path));
  } catch (error) {
    if (cure === undefined) throw error;
    throw new Error(`${messageOf(error)} ${cure}`, {
      cause: error,
    });
  }
}

async function make(wanted: string): Promise<void> {
  for (const folder of await missingAbove(wanted)) {
    try {
      await mkdir(folder);
    } catch (error) {
      const code = textAt(error, "code");
      // Another start made it a moment ago; a link that leads nowhere is no folder.
      if (code === "EEXIST" && (await isFolder(folder))) continue;
      throw cannot(wanted, `${folder} can't be made (${code ?? String(error)})`, error);
    }
  }
  try {
    await access(wanted, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = textAt(error, "code") ?? "unknown";
    throw cannot(wanted, `this user may not write there (${code})`, error);
  }
}

/** Missing folders, the highest first. */
async function missingAbove(wanted: string): Promise<string[]> {
  const missing: string[] = [];
  for (let folder = wanted; ; folder = dirname(folder)) {
    const is = await isFolder(folder);
    if (is === true) return missing;
    if (is === false) throw cannot(wanted, `${folder} is a file`);
    if (dirname(folder) === folder) throw cannot(wanted, `there is no ${folder}`);
    missing.unshift(folder);
  }
}

/** Null: there is nothing of that name. */
async function isFolder(path: string): Promise<boolean | null> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    const code = textAt(error, "code");
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw cannot(path, `it can't be looked at (${code ?? String(error)})`, error);
  }
}

function cannot(wanted: string, why: string, cause?: unknown): Error {
  return new Error(`The folder ${wanted} can't be used: ${why}.`, { cause });
}
