import { readdirSync, readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second. */
const ticksPerS = 100;

/**
 * Seconds of processor time that a server and its children have used, those that have ended among them. null: the system
 * doesn't tell (only Linux has /proc).
 */
export function serverCpuS(pid: number): number | null {
  const server = readStat(pid);
  if (server === null) return null;
  const ticks = childStatsOf(pid).reduce((sum, { own }) => sum + own, server.own + server.ended);
  return ticks / ticksPerS;
}

/** The processes that a process has started, where the system tells. */
export function childrenOf(pid: number): number[] {
  return childStatsOf(pid).map((child) => child.pid);
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** Its own processor time, in ticks. */
  readonly own: number;
  /** That of its children that have ended. */
  readonly ended: number;
}

function childStatsOf(pid: number): Stat[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids
    .flatMap((each) => readStat(Number(each)) ?? [])
    .filter(({ parent }) => parent === pid);
}

function readStat(pid: number): Stat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    // It has ended meanwhile, or there is no /proc.
    return null;
  }
  // The name before may hold spaces and parentheses; the state comes after it.
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [, parent = 0] = fields;
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { pid, parent, own: user + system, ended: endedUser + endedSystem };
}
