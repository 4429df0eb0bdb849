import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./local-process";

/** A copy of this app, which a test changes as a page says. */
export interface AppCopy {
  readonly folder: string;
  /** Changes a file of the copy. Throws where the text to be replaced isn't there: then the page is wrong. */
  edit(path: string, ...changes: readonly (readonly [string | RegExp, string])[]): void;
  remove(): void;
}

/** Makes it; packages are linked. */
export function copyApp(): AppCopy {
  const folder = mkdtempSync(join(tmpdir(), "taskgate-app-copy-"));
  // PostgreSQL runs as another user under root.
  chmodSync(folder, 0o755);
  const copied = ["functions", "shared", "test", "docs", "infra", ".ci"];
  const files = ["tsconfig.json", "host.json", "package.json", "README.md"];
  for (const name of [...copied, ...files])
    cpSync(join(root, name), join(folder, name), { recursive: true });
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
