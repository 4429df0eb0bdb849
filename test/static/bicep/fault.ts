/** One thing that is wrong in a Bicep file or a parameter file. */
export interface Fault {
  /** Which check found it; broken samples name the rule that must find them. */
  readonly rule: string;
  /** File, relative to the root of the repository. */
  readonly file: string;
  /** Line, from 1. */
  readonly line: number;
  /** What is wrong, in one sentence. */
  readonly message: string;
}

/** Takes faults as they are found; made once per file. */
export type Report = (rule: string, line: number, message: string) => void;

/** Makes the list for one file's faults and the function that appends to it. */
export function startReport(file: string): { readonly faults: Fault[]; readonly report: Report } {
  const faults: Fault[] = [];
  const report: Report = (rule, line, message) => {
    const isKnown = faults.some((f) => f.rule === rule && f.line === line && f.message === message);
    if (!isKnown) {
      faults.push({ rule, file, line, message });
    }
  };
  return { faults, report };
}

/** One line per fault, as compilers print them. */
export function describeFaults(faults: readonly Fault[]): string {
  return faults.map((f) => `${f.file}:${String(f.line)} [${f.rule}] ${f.message}`).join("\n");
}
