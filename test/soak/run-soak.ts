import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LedgerJudge } from "./judge";
import { runLeg } from "./leg";
import type { RunTogether } from "./leg";
import { LedgerReader } from "./ledger-reader";
import type { SoakOptions } from "./options";
import type { Scale } from "./plan";
import { writeReport } from "./report";
import type { SoakResult } from "./report";
import { RunFolder } from "./run-folder";
import type { RunState } from "./run-folder";
import { isGood, verdictsOf } from "./verdicts";
import type { Verdict } from "./verdicts";

/** How a call ended: the run is over and judged, or goes on with the next call. */
export type SoakEnd =
  | { readonly is: "judged"; readonly isGood: boolean; readonly verdicts: readonly Verdict[] }
  | { readonly is: "stopped"; readonly ranMs: number };

/** Runs what is left of a run, then judges all of it and writes its report. */
export async function runSoak(options: SoakOptions, together: RunTogether): Promise<SoakEnd> {
  const path = options.folder ?? mkdtempSync(join(tmpdir(), "taskgate-soak-"));
  const folder = RunFolder.open(path, scaleOf(options));
  try {
    if (folder.ranMs < options.hours * 3_600_000 || !folder.state.isDrained) {
      await runLeg(folder, options, together);
      if (!folder.state.isDrained) return { is: "stopped", ranMs: folder.ranMs };
    }
    const result = judgeAll(folder, options);
    await writeReport(options.report, result);
    return { is: "judged", isGood: isGood(result.verdicts), verdicts: result.verdicts };
  } finally {
    folder.close();
    if (options.folder === null) rmSync(path, { recursive: true, force: true });
  }
}

/** Short runs keep finished tasks for a shorter time, so that they see them go. */
export function scaleOf({ hours, rate }: Pick<SoakOptions, "hours" | "rate">): Scale {
  const runMs = hours * 3_600_000;
  return {
    rate,
    retainMs: Math.round(Math.min(300_000, Math.max(60_000, runMs / 20))),
    delayMs: Math.round(Math.min(60_000, Math.max(1_000, runMs / 20))),
    doomedMs: Math.round(Math.min(10_000, Math.max(1_000, runMs / 20))),
  };
}

/** From the whole ledger: whatever a leg's own judge had seen. */
function judgeAll(folder: RunFolder, { workers }: SoakOptions): SoakResult {
  const { state, ranMs } = folder;
  const judge = new LedgerJudge(state.scale);
  for (const entries of new LedgerReader(folder.ledger).read()) {
    judge.tell(entries);
    judge.judgeUntil(Number.POSITIVE_INFINITY);
    judge.takeWaits();
  }
  judge.finish();
  const samples = folder.samples();
  const verdicts = [...verdictsOf(samples, judge.findings), ...placeVerdicts(state)];
  return { state, ranMs, workers, samples, judge, verdicts };
}

/** Of the processes and the database themselves. */
function placeVerdicts({ crashes, database }: RunState): Verdict[] {
  const { findings = [], deadlocks = 0 } = database ?? {};
  const wrong = [...findings, ...(deadlocks > 0 ? [`${String(deadlocks)} deadlocks`] : [])];
  return [
    {
      name: "workers",
      isGood: crashes.length === 0,
      text: crashes.length === 0 ? "none ended by itself" : crashes.slice(0, 5).join("; "),
    },
    {
      name: "database",
      isGood: wrong.length === 0,
      text:
        wrong.length === 0
          ? "its own check finds nothing, no deadlock"
          : wrong.slice(0, 5).join("; "),
    },
  ];
}
