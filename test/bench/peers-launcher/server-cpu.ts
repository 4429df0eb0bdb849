import { readdirSync, readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second. */
const ticksPerS = 100;

/**
 * Seconds of processor time that a server and its children have used, those that have ended among them. null: the system
 * doesn't tell (only Linux has /proc).
 */
export function serverCpuS(pid: number): number | null {
  const own = readStat(pid);
  if (own === null) return null;
  let ticks = own.own + own.ended;
  for (const child of childrenOf(pid)) ticks += readStat(child)?.own ?? 0;
  return ticks / ticksPerS;
}

/** The processes that a process has started, where the system tells. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => readStat(each)?.parent === pid);
}

function readStat(pid: number): { parent: number; own: number; ended: number } | null {
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
  return { parent, own: user + system, ended: endedUser + endedSystem };
}
