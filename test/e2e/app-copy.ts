import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { root } from "./local-process";

/** A copy of this app, which a test changes as a page says. */
export interface AppCopy {
  readonly folder: string;
  /** Changes a file of the copy. Throws where the text to be replaced isn't there: then the page is wrong. */
  edit(path: string, ...changes: readonly (readonly [string | RegExp, string])[]): void;
  remove(): void;
}

/** What git, npm and programs keep in the folder. */
const notCopied = new Set([".git", ".taskgate", "coverage", "dist", "landing", "node_modules"]);

/** Makes it; packages are linked. */
export function copyApp(): AppCopy {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-app-copy-"));
  // PostgreSQL runs as another user under root.
  chmodSync(folder, 0o755);
  const isOwn = (path: string): boolean => basename(path) !== "node_modules";
  for (const name of readdirSync(root))
    if (!notCopied.has(name))
      cpSync(join(root, name), join(folder, name), { recursive: true, filter: isOwn });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    folder,
    edit: (path, ...changes) => {
      let text = readFileSync(join(folder, path), "utf8");
      for (const [before, after] of changes) {
        const changed = text.replace(before, after);
        if (changed === text) throw new Error(`${path} has no ${String(before)}`);
        text = changed;
      }
      writeFileSync(join(folder, path), text);
    },
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
