import { realpathSync } from "node:fs";
import { isAbsolute, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { TaskgateError } from "../../core/errors";
import { messageOf, read } from "../../core/foreign-value";

/** Where the load of an app was. */
export interface LoadPlace {
  /** The folder with package.json; absolute. */
  readonly appRoot: string;
  /** The entry file that was being loaded; absolute. */
  readonly file: string;
}

/**
 * What kept a file of the app from being loaded, as a sentence that begins with file and line: those of the error where the file
 * can't be parsed, else the first call in the stack that is in the app. An ES module that can't be parsed doesn't say which file it
 * is: then it is the entry file, or one that this imports.
 */
export class LoadFailure extends TaskgateError {
  /** For the log. */
  readonly trace: string;

  constructor(cause: unknown, { appRoot, file }: LoadPlace) {
    const root = realpathSync(appRoot);
    const stack = cause instanceof Error ? read(cause, "stack") : undefined;
    const lines = typeof stack === "string" ? stack.split("\n") : [];
    const entry = relative(appRoot, file);
    const unknown = cause instanceof SyntaxError ? `${entry} or a file that it imports` : entry;
    super("TASKGATE_APP_BROKEN", `${lineOfApp(lines, root) ?? unknown}: ${messageOf(cause)}`, {
      cause,
    });
    this.trace = lines.length === 0 ? this.message : lines.join("\n");
  }
}

/** The place of a call, or of a file that can't be parsed: `at work (/app/a.js:3:7)`, `/app/a.js:3`. */
const place = /((?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^()]*?):(\d+)(?::\d+)?\)?$/;

/** `src/functions/orders.js:12`; null: no line of the stack is in the app. */
function lineOfApp(stack: readonly string[], root: string): string | null {
  for (const [index, text] of stack.entries()) {
    const isCall = /^\s+at /.test(text);
    if (text.includes("node:") || !(isCall || index === 0)) continue;
    const [, address = "", line = ""] = place.exec(text) ?? [];
    const path = pathInApp(address, root);
    if (path !== null) return `${path}:${line}`;
  }
  return null;
}

/** This library: as it runs, and as the source maps of this repository name it. */
const ownFolders = ["../..", "../../../../shared"].map((path) => resolve(__dirname, path));

/** Relative to the app's folder; null: the file isn't the app's own. */
function pathInApp(address: string, root: string): string | null {
  if (address === "") return null;
  const path = address.startsWith("file:") ? fileURLToPath(address) : address;
  const isPackage = /[\\/]node_modules[\\/]/.test(path);
  if (isPackage || ownFolders.some((folder) => isIn(relative(folder, path)))) return null;
  const inApp = relative(root, path);
  return isIn(inApp) ? inApp : null;
}

function isIn(path: string): boolean {
  return path !== "" && !path.startsWith("..") && !isAbsolute(path);
}
