import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { messageOf } from "../core/foreign-value";
import { kindsOf } from "../functions/gates";
import type * as LoadGate from "../local/load-gate";
import type { NewTask } from "../ports/task-store";
import { completeTasks } from "../worker/client/complete-tasks";
import { createRegistry } from "../worker/define/registry";
import type { Registry } from "../worker/define/registry";
import type { AnyTaskKind } from "../worker/define/task-kind";

const requireLater = createRequire(__filename);
/** The kinds of the repository that this command line was built in; a package has none. */
const tasksFile = join(__dirname, "../../functions/tasks/index.js");

/** What the app's code says of tasks that the command line adds. */
export interface AppKinds {
  /** Checks and completes tasks by the app's code. Where no app can be loaded they stay as they are. */
  complete(
    call: { readonly definition: string; readonly allowsUnknownKind?: boolean | undefined },
    tasks: readonly NewTask[],
  ): Promise<readonly NewTask[]>;
  /** The app's files were loaded: what they have opened may keep the process alive. */
  hasLoaded(): boolean;
}

/**
 * The kinds of the app in the current folder, loaded when the first task is added. Without them the database adds what it
 * knows, and refuses what only the code can tell; `tell` then gets a sentence with the reason.
 */
export function createAppKinds(folder: string, tell: (sentence: string) => void): AppKinds {
  let registry: Promise<Registry | null> | undefined;
  let hasLoaded = false;
  const load = async (): Promise<Registry | null> => {
    if (existsSync(tasksFile)) {
      const { tasks } = (await import(tasksFile)) as { tasks: readonly AnyTaskKind[] };
      return createRegistry(tasks);
    }
    const packages = readPackages(folder);
    if (!packages.has("taskgate")) return null;
    try {
      // The files of another program may start it.
      if (!packages.has("@azure/functions"))
        throw new Error("package.json doesn't name @azure/functions");
      hasLoaded = true;
      return createRegistry(await loadKinds(folder, tell));
    } catch (error) {
      const [reason = ""] = messageOf(error).split("\n");
      tell(`the payload isn't checked by the app's code, which can't be loaded: ${reason}`);
      return null;
    }
  };
  return {
    complete: async (call, tasks) => {
      const known = await (registry ??= load());
      return known === null ? tasks : completeTasks(known, call, tasks);
    },
    hasLoaded: () => hasLoaded,
  };
}

/** Standard output belongs to the result: what the app prints meanwhile goes to standard error. */
async function loadKinds(
  folder: string,
  tell: (sentence: string) => void,
): Promise<readonly AnyTaskKind[]> {
  const { loadGate } = requireLater("../local/load-gate") as typeof LoadGate;
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  try {
    return kindsOf(await loadGate(folder, tell));
  } finally {
    stdout.write = write;
  }
}

/** The packages that the package.json of a folder names; none where it can't be read. */
function readPackages(folder: string): ReadonlySet<string> {
  const path = join(folder, "package.json");
  if (!existsSync(path)) return new Set();
  try {
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Record<string, object | undefined>;
    return new Set(
      ["dependencies", "devDependencies"].flatMap((section) =>
        Object.keys(manifest[section] ?? {}),
      ),
    );
  } catch {
    return new Set();
  }
}
