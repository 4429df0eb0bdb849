import { readdirSync, readFileSync } from "node:fs";

/**
 * Bytes in memory of a process and its children; memory that several of them share counts once (its proportional set size).
 * null where the system doesn't tell (Linux does).
 */
export function memoryOfTree(pid: number): number | null {
  try {
    return [pid, ...childrenOf(pid)].reduce((sum, each) => sum + proportionalBytes(each), 0);
  } catch {
    return null;
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name) && parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number | null {
  const stat = readOrEmpty(`/proc/${pid}/stat`);
  // The name of the program, in brackets, may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[1] === undefined ? null : Number(fields[1]);
}

/** 0 for one that has just ended. */
function proportionalBytes(pid: number): number {
  const text = readOrEmpty(`/proc/${String(pid)}/smaps_rollup`);
  return 1_024 * Number(/^Pss:\s+(\d+) kB/mu.exec(text)?.[1] ?? 0);
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
