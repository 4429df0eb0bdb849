import type { AuditEntry, ListAuditInput } from "../../ports/task-store";
import { readableEntry } from "../audit-report";
import type { Actor, AdminOptions } from "../admin-options";
import { runDoctor } from "../doctor";
import type { DoctorReport } from "../doctor";
import { listFailures, redriveFailures } from "../failure-actions";
import type { FailuresReport, RedriveFailuresReport } from "../failure-actions";
import type { FailuresRequest, RedriveFailuresRequest } from "../failure-requests";
import { withKnownNames } from "../known-definitions";
import type { OperatorRequest } from "../requests";
import { readStop, resumeAll, stopAll } from "../stop-actions";
import type { StopReport, StopState } from "../stop-actions";

/** Calls about incidents: failures, changes, a stop of everything, faults. */
export interface IncidentCalls {
  /** Dead tasks by error, most first. */
  failures(request: FailuresRequest): Promise<FailuresReport>;
  /** Retries the dead tasks of one error. */
  redriveFailures(request: RedriveFailuresRequest & Actor): Promise<RedriveFailuresReport>;
  /** Changes with their actors, instants and reasons, newest first. */
  audit(request: ListAuditInput): Promise<AuditEntry[]>;
  /** The stop that is in force; null: none is. */
  stopState(): Promise<StopState | null>;
  /** Pauses all definitions and schedules that aren't paused. */
  stopAll(request: OperatorRequest & Actor): Promise<StopReport>;
  /** Resumes the definitions and schedules that a stop has paused, and no others. */
  resumeAll(request: OperatorRequest & Actor): Promise<StopReport>;
  /** Looks for faults; `deep` checks every promise that SQL can see, over the whole database. */
  doctor(options: { deep: boolean }): Promise<DoctorReport>;
}

/** The calls about incidents. */
export function incidentCalls(options: AdminOptions): IncidentCalls {
  const { store, build } = options;
  return {
    failures: (request) =>
      withKnownNames(store, request.definition ?? "", () => listFailures(options, request)),
    redriveFailures: (request) =>
      withKnownNames(store, request.definition, () => redriveFailures(options, request)),
    audit: async (request) => (await store.listAudit(request)).entries.map(readableEntry),
    stopState: () => readStop(options),
    stopAll: (request) => stopAll(options, request),
    resumeAll: (request) => resumeAll(options, request),
    doctor: ({ deep }) => runDoctor({ store, build, deep, probes: options.probes ?? [] }),
  };
}
