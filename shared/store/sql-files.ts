import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { textAt } from "../core/foreign-value";

/** The SQL texts of one dialect, by their paths below its folder, such as `migrations/0001_baseline.sql`. */
export interface SqlFiles {
  /** Paths of the `.sql` files of a subfolder, ascending; none where there is no such subfolder. */
  list(subfolder: string): string[];
  /** Null where there is no such file. */
  read(path: string): string | null;
}

/** In a package the texts of a dialect stand in this one file, each below a line that names it. */
const packedName = "all.sql";
const namingLine = /^--# (\S+)\n/m;

/** Opens `folder` (shared/store/<dialect>/sql). Throws ENOENT where there is no such folder. */
export function openSqlFiles(folder: string): SqlFiles {
  const packed = readIfThere(join(folder, packedName));
  if (packed !== null) return packedFiles(packed);
  readdirSync(folder);
  return {
    list: (subfolder) => listFolder(folder, subfolder),
    read: (path) => readIfThere(join(folder, path)),
  };
}

function listFolder(folder: string, subfolder: string): string[] {
  try {
    return readdirSync(join(folder, subfolder))
      .filter((file) => file.endsWith(".sql"))
      .sort()
      .map((file) => `${subfolder}/${file}`);
  } catch (error) {
    if (isMissingFile(error)) return [];
    throw error;
  }
}

/** Text before the first naming line is a heading. */
function packedFiles(packed: string): SqlFiles {
  const [, ...parts] = packed.split(namingLine);
  const texts = new Map<string, string>();
  for (let at = 0; at < parts.length; at += 2) texts.set(parts[at] ?? "", parts[at + 1] ?? "");
  return {
    list: (subfolder) =>
      [...texts.keys()]
        .filter((path) => path.startsWith(`${subfolder}/`) && path.endsWith(".sql"))
        .sort(),
    read: (path) => texts.get(path) ?? null,
  };
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}

/** Was it thrown because a file or folder isn't there? */
export function isMissingFile(error: unknown): boolean {
  return textAt(error, "code") === "ENOENT";
}
