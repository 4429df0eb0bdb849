import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Edit } from "./edits";
import type { Mutant } from "./mutants";
import type { Depth, ShippedRun } from "./passes";
import type { Verdict } from "./verdict";

/** A mutant on its way to another process. */
export interface Job {
  readonly file: string;
  readonly kind: Mutant["kind"];
  readonly line: number;
  readonly edits: readonly Edit[];
  readonly statementId: number | undefined;
  /** known-survivors says why it survives: then only quick checks are tried. */
  readonly isExplained: boolean;
}

/** What a child says. */
export type Report =
  /** It has run the shipped files, and can be given jobs. */
  | { readonly kind: "ready"; readonly known: ShippedRun }
  | { readonly kind: "verdict"; readonly verdict: Verdict };

/** Longer than any mutant takes that the budget of steps doesn't end first, on a busy computer, too: it counts as killed. */
const longestMs = 900_000;

export interface Watcher {
  /** Called once, by the first child that is ready. */
  onReady(known: ShippedRun): void;
  onVerdict(index: number, verdict: Verdict): void;
}

/** How to run jobs. */
export interface JobOptions {
  readonly processes: number;
  readonly depth: Depth;
  /** Ends it before its time: mutants under way are finished, no more are begun. */
  readonly signal: AbortSignal;
}

/** Tries all mutants in some processes of their own. Rejects when one of them can't run the shipped files. */
export async function runJobs(
  jobs: readonly Job[],
  { processes, signal, depth }: JobOptions,
  watcher: Watcher,
): Promise<void> {
  const next = untilAborted(jobs, signal);
  let isReady = false;
  const onReady = (known: ShippedRun): void => {
    if (!isReady) watcher.onReady(known);
    isReady = true;
  };
  const count = Math.max(1, Math.min(processes, jobs.length));
  const lanes = Array.from({ length: count }, () => runLane(next, depth, { ...watcher, onReady }));
  await Promise.all(lanes);
}

function* untilAborted(jobs: readonly Job[], signal: AbortSignal): Generator<[number, Job]> {
  for (const entry of jobs.entries()) {
    if (signal.aborted) return;
    yield entry;
  }
}

/** One child after the other until no job is left: one that dies takes its mutant along. */
async function runLane(
  jobs: Iterator<[number, Job]>,
  depth: Depth,
  watcher: Watcher,
): Promise<void> {
  let child = await startChild(depth, watcher);
  try {
    for (let next = jobs.next(); next.done !== true; next = jobs.next()) {
      const [index, job] = next.value;
      const verdict = await ask(child, job);
      watcher.onVerdict(index, verdict ?? died);
      if (verdict === undefined) child = await startChild(depth, watcher);
    }
  } finally {
    child.disconnect();
  }
}

const died: Verdict = {
  kind: "killed",
  by: "steps",
  where: "the process that tried it",
  why: "it ended before it came to a verdict, or took too long",
};

async function startChild(depth: Depth, watcher: Watcher): Promise<ChildProcess> {
  const child = fork(join(__dirname, "trial-process.ts"), [depth], {
    execArgv: ["-r", join(__dirname, "../../support/register-swc.cjs")],
  });
  const report = await nextReport(child);
  if (report?.kind === "ready") {
    watcher.onReady(report.known);
    return child;
  }
  child.kill();
  throw new Error("A process ended before it had run the shipped files");
}

async function ask(child: ChildProcess, job: Job): Promise<Verdict | undefined> {
  child.send(job);
  const timer = setTimeout(() => child.kill("SIGKILL"), longestMs);
  const report = await nextReport(child);
  clearTimeout(timer);
  return report?.kind === "verdict" ? report.verdict : undefined;
}

/** undefined: the child ended. */
function nextReport(child: ChildProcess): Promise<Report | undefined> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown): void => {
      child.off("exit", onExit);
      resolve(message as Report);
    };
    const onExit = (): void => {
      child.off("message", onMessage);
      resolve(undefined);
    };
    child.once("message", onMessage);
    child.once("exit", onExit);
  });
}
