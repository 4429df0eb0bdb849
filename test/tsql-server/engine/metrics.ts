import type { LockMode } from "../locks/modes";

/** What a request has cost. */
export interface Metrics {
  /** Locks granted, by mode; those held already aren't counted again. */
  locks: Map<LockMode, number>;
  waits: number;
  rowsRead: number;
  rowsWritten: number;
  /** READPAST. */
  rowsSkipped: number;
  /** Deleted entries that a scan went over. */
  ghostsPassed: number;
}

export function newMetrics(): Metrics {
  return {
    locks: new Map(),
    waits: 0,
    rowsRead: 0,
    rowsWritten: 0,
    rowsSkipped: 0,
    ghostsPassed: 0,
  };
}

/** Which statements ran, and which way each condition went, by module. */
export class Coverage {
  readonly modules = new Map<string, ModuleCoverage>();

  of(moduleName: string): ModuleCoverage {
    let module = this.modules.get(moduleName);
    if (module === undefined) {
      module = { statements: new Map(), branches: new Map() };
      this.modules.set(moduleName, module);
    }
    return module;
  }
}

export interface ModuleCoverage {
  /** Line and number of runs, by statement; 0 where it was never reached. */
  readonly statements: Map<number, { line: number; runs: number }>;
  /** How often a condition was true, and not. */
  readonly branches: Map<number, { line: number; taken: number; passed: number }>;
}
