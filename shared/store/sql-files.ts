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
  if (packed !== null) return new PackedFiles(packed);
  readdirSync(folder);
  return new FolderFiles(folder);
}

class FolderFiles implements SqlFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  list(subfolder: string): string[] {
    try {
      return readdirSync(join(this.#folder, subfolder))
        .filter((file) => file.endsWith(".sql"))
        .sort()
        .map((file) => `${subfolder}/${file}`);
    } catch (error) {
      if (isMissingFile(error)) return [];
      throw error;
    }
  }

  read(path: string): string | null {
    return readIfThere(join(this.#folder, path));
  }
}

class PackedFiles implements SqlFiles {
  readonly #texts = new Map<string, string>();

  /** Text before the first naming line is a heading. */
  constructor(packed: string) {
    const [, ...parts] = packed.split(namingLine);
    for (let at = 0; at < parts.length; at += 2) {
      this.#texts.set(parts[at] ?? "", parts[at + 1] ?? "");
    }
  }

  list(subfolder: string): string[] {
    return [...this.#texts.keys()]
      .filter((path) => path.startsWith(`${subfolder}/`) && path.endsWith(".sql"))
      .sort();
  }

  read(path: string): string | null {
    return this.#texts.get(path) ?? null;
  }
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
