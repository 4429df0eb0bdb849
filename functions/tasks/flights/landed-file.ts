import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { GiveUp } from "taskgate";
import type { LandedFile } from "./schemas";

/** Files whose rows are kept in memory: a block needs 250 rows of a file that costs 20 ms to read. */
const keptMax = 3;
const kept = new Map<string, Promise<readonly unknown[]>>();

/**
 * The content of a landed file. Throws GiveUp when it is gone or has changed since its event: the new content has
 * an event of its own.
 */
export async function readLandedFile(file: LandedFile): Promise<string> {
  const content = await readFile(file.path).catch((error: unknown) => {
    throw isMissing(error) ? new GiveUp(`${file.name} is gone from the landing folder`) : error;
  });
  if (createHash("sha256").update(content).digest("hex") !== file.sha256) {
    throw new GiveUp(`${file.name} was changed after its event; the new content has its own`);
  }
  // Without the byte order mark with which editors on Windows begin a file.
  return new TextDecoder().decode(content);
}

/** The rows of a landed JSON file, an array. Throws as `readLandedFile`, and GiveUp when it isn't one. */
export async function readLandedRows(file: LandedFile): Promise<readonly unknown[]> {
  const key = `${file.path}:${file.sha256}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const rows = readLandedFile(file).then((text) => parseRows(file.name, text));
  kept.set(key, rows);
  const oldest = kept.keys().next().value;
  if (kept.size > keptMax && oldest !== undefined) kept.delete(oldest);
  // A failure isn't kept: the file may be readable at the next try.
  rows.catch(() => kept.delete(key));
  return rows;
}

function parseRows(name: string, text: string): readonly unknown[] {
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new GiveUp(`${name} is not JSON: ${reason}`, error);
  }
  if (!Array.isArray(rows)) throw new GiveUp(`${name}: expected a JSON array of flights`);
  return rows;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
